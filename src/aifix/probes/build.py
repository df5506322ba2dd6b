"""build.toolkit: the compilers and tools that builds of extensions call."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING, Any

from aifix.probes import interpreter
from aifix.probes.finding import Case, Finding, confirmed, refuted, unclear

if TYPE_CHECKING:
    from aifix.probes.machine import Machine

TOOLS = ("nvcc", "gcc", "g++", "clang", "cmake", "ninja", "make", "git", "rustc", "cargo", "go", "pkg-config", "ptxas", "hipcc")
_TOOL = re.compile(r"[\w+.-]+")


def toolkit(case: Case) -> Finding:
    """Look for build tools, CUDA's toolkit and Python's headers."""
    machine = case.machine
    path = machine.environ.get("PATH")
    found = {name: where for name in TOOLS if (where := shutil.which(name, path=path))}
    home = cuda_home(machine, found.get("nvcc", ""))
    data: dict[str, Any] = {"tools": found, "cuda_home": home, "cuda": toolkit_version(home)}
    headers = _headers(machine)
    data["python_headers"] = headers
    evidence = [f"{name}: {where}" for name, where in found.items()]
    if home:
        evidence.append(f"CUDA {data['cuda'] or 'of unknown version'} in {home}")
    evidence.append(f"Python.h: {headers or 'not found'}")
    problem, looked = _problem(case, data, machine)
    if problem:
        return confirmed(problem, data, evidence)
    listed = ", ".join(found) or "none of the usual tools"
    if case.suspicion and not looked:
        return unclear(f"here are {listed}", data, evidence)
    return refuted(f"here are {listed}" + (f"; CUDA toolkit {data['cuda']}" if home else "; no CUDA toolkit"), data, evidence)


def _problem(case: Case, data: dict[str, Any], machine: Machine) -> tuple[str, bool]:
    found: dict[str, str] = data["tools"]
    if case.about("build.nvcc-missing"):
        return ("" if found.get("nvcc") or data["cuda_home"] else "there is no nvcc on PATH and no CUDA_HOME"), True
    if case.about("build.cuda-mismatch"):
        from aifix.probes.torch_build import of

        torch = of(machine)
        if torch is None or not torch.cuda or not data["cuda"]:
            return "", False
        same = torch.cuda.split(".", maxsplit=1)[0] == data["cuda"].split(".")[0]
        return ("" if same else f"nvcc is of CUDA {data['cuda']}, and torch {torch.version} was built for {torch.cuda}"), True
    if case.about("build.host-compiler"):
        return ("" if {"gcc", "g++"} <= set(found) or "clang" in found else "there is no C and C++ compiler on PATH"), True
    if case.about("build.headers") and "Python.h" in " ".join([case.text("header", "file", "name"), *case.lines]):
        return ("" if data["python_headers"] else "Python.h is not here: the development package of this Python is missing"), True
    if case.about("build.tool-missing", "deps.triton", "compile."):
        named = _TOOL.findall(case.text("tool", "program", "command", "name").lower())
        missing = [name for name in named if name in TOOLS and name not in found]
        if missing:
            return f"{missing[0]} is not on PATH", True
        return "", bool(named and named[0] in TOOLS)
    return "", False


def cuda_home(machine: Machine, nvcc: str) -> str:
    """Give the folder of the CUDA toolkit as torch's builder would choose it."""
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if machine.environ.get(variable):
            return machine.environ[variable]
    if nvcc:
        return os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    default = str(machine.path("/usr/local/cuda"))
    return default if os.path.isdir(default) else ""


def toolkit_version(home: str) -> str:
    """Read the version of a CUDA toolkit from its own files."""
    for name in ("version.json", "version.txt"):
        try:
            with open(f"{home}/{name}", encoding="utf-8", errors="replace") as stream:
                found = re.search(r'"cuda"\s*:\s*\{[^}]*"version"\s*:\s*"(\d+\.\d+)|CUDA Version (\d+\.\d+)', stream.read(16384))
        except OSError:
            continue
        if found:
            return found[1] or found[2]
    return ""


def _headers(machine: Machine) -> str:
    if not machine.target.known:
        return ""
    python = interpreter.read(machine.target.python, machine.environ)
    for folder in (python.prefix, python.base):
        path = f"{folder}/include/python{python.version}/Python.h"
        if os.path.exists(path):
            return path
    return ""
