"""host.libc and host.libraries: symbol versions of the C and C++ libraries, and shared libraries that the log misses."""

from __future__ import annotations

import os
import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from aifix.probes import elf, interpreter
from aifix.probes.disk import absolute
from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear

if TYPE_CHECKING:
    from aifix.probes.machine import Machine

FOLDERS = (
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/local/cuda/lib64",
)
_VERSIONED = re.compile(r"((?:GLIBC|GLIBCXX|CXXABI|GOMP|OMP)_[\w.]+)")


def versions(case: Case) -> Finding:
    """Look at the symbol versions that this machine's (and the environment's) C and C++ libraries give."""
    machine = case.machine
    if not sys.platform.startswith("linux"):
        return absent("this system does not use glibc")
    libraries = {name: machine.once(f"elf {name}", partial(_gives, machine, name)) for name in ("libc.so.6", "libstdc++.so.6")}
    libc, libstdcxx = libraries["libc.so.6"], libraries["libstdc++.so.6"]
    if not libc:
        return absent("glibc is not found here: this system may use musl (Alpine)")
    data: dict[str, Any] = {"glibc": _newest(libc, "GLIBC_"), "glibcxx": _newest(libstdcxx, "GLIBCXX_"), "cxxabi": _newest(libstdcxx, "CXXABI_")}
    evidence = [f"{name}: {path}" for name, found in libraries.items() for path in sorted(found)]
    summary = f"glibc up to {data['glibc'] or 'unknown'}, libstdc++ up to {data['glibcxx'] or 'none'}"
    wanted = _wanted(case)
    missing = [name for name in wanted if not _given(name, libraries)]
    if missing:
        which = {"GLIBC": data["glibc"], "GLIBCXX": data["glibcxx"], "CXXABI": data["cxxabi"]}.get(missing[0].partition("_")[0], "")
        conda = _environment_copy(machine)
        if conda and missing[0] in _safely(conda).gives:
            return confirmed(f"{missing[0]} is wanted; the system's library ends at {which}, and {conda} has it", data | {"has": conda}, evidence)
        return confirmed(f"{missing[0]} is wanted, and this machine ends at {which or 'another library'}", data | {"missing": missing}, evidence)
    if wanted:
        return refuted(f"{wanted[0]} is here ({summary}): another copy of the library is loaded first", data, evidence)
    return unclear(summary, data, evidence) if case.suspicion else refuted(summary, data, evidence)


def _wanted(case: Case) -> list[str]:
    """Give the versions that the log misses, or that its extension wants."""
    found = [name for fact in case.facts.values() for name in _VERSIONED.findall(fact.text)]
    found += [name for line in case.lines if "not found" in line for name in _VERSIONED.findall(line)]
    path = case.text("library", "path", "file", "extension")
    if not found and path.endswith(".so"):
        for listed in _safely(absolute(case, path)).wants.values():
            found += [name for name in listed if _VERSIONED.match(name)]
    return list(dict.fromkeys(found))


def _given(name: str, libraries: dict[str, dict[str, tuple[str, ...]]]) -> bool:
    return any(name in gives for found in libraries.values() for gives in found.values())


def _gives(machine: Machine, name: str) -> dict[str, tuple[str, ...]]:
    """Read the versions of the system's library by path."""
    for folder in FOLDERS[:8]:
        path = str(machine.path(f"{folder}/{name}"))
        if os.path.exists(path):
            gives = _safely(path).gives
            if gives:
                return {path: gives}
    return {}


def _environment_copy(machine: Machine) -> str:
    if not machine.target.known:
        return ""
    path = f"{interpreter.read(machine.target.python).base}/lib/libstdc++.so.6"
    return path if os.path.exists(path) else ""


def _safely(path: str) -> elf.Elf:
    try:
        return elf.read(path)
    except (OSError, elf.ElfError):
        return elf.Elf((), {}, ())


def _newest(found: dict[str, tuple[str, ...]], prefix: str) -> str:
    names = [name.removeprefix(prefix) for gives in found.values() for name in gives if name.startswith(prefix)]
    numbered = [name for name in names if re.fullmatch(r"[\d.]+", name)]
    return prefix + max(numbered, key=lambda text: [int(part) for part in text.split(".")]) if numbered else ""


def libraries(case: Case) -> Finding:
    """Look for the shared library that the log misses, where the loader and the environment would find it."""
    name = str(case.options.get("library") or case.text("library", "lib", "name", "file"))
    found = re.search(r"[\w+-]+\.so(?:\.[\d.]+)?", name)
    if not found:
        return unclear("the log does not name the library" if case.suspicion else "name one with --library")
    name = found[0]
    places = where(case.machine, name)
    data: dict[str, Any] = {"library": name, "found": places}
    searched = [place for place in places if place["searched"]]
    if searched:
        return refuted(f"{name} is here: {searched[0]['path']}", data)
    if places:
        return confirmed(f"{name} is at {places[0]['path']}, where the loader does not look", data, [place["path"] for place in places[1:]])
    others = sorted({os.path.basename(path) for path in _cache(case.machine) if os.path.basename(path).startswith(name.split(".so")[0] + ".so")})
    near = f"; of another version: {', '.join(others[:3])}" if others else ""
    return confirmed(f"{name} is neither in the loader's cache nor in the environment{near}", data | {"others": others})


def where(machine: Machine, name: str) -> list[dict[str, Any]]:
    """Give the places of a library, and whether the loader searches them."""
    found: dict[str, bool] = {}
    path = machine.environ.get("LD_LIBRARY_PATH", "")
    for folder in [part for part in path.split(os.pathsep) if part]:
        if os.path.exists(f"{folder}/{name}"):
            found[f"{folder}/{name}"] = True
    for one in machine.once("ld.so.cache", lambda: _cache(machine)):
        if os.path.basename(one) == name:
            found.setdefault(one, True)
    for folder in FOLDERS[:8]:
        one = str(machine.path(f"{folder}/{name}"))
        if os.path.exists(one):
            found.setdefault(one, True)
    for folder in FOLDERS[8:]:
        one = str(machine.path(f"{folder}/{name}"))
        if os.path.exists(one):
            found.setdefault(one, False)
    if machine.target.known:
        python = interpreter.read(machine.target.python, machine.environ)
        for folder in (f"{python.prefix}/lib", f"{python.base}/lib", *_bundled(python.folders)):
            if os.path.exists(f"{folder}/{name}"):
                found.setdefault(f"{folder}/{name}", False)
    return [{"path": one, "searched": searched} for one, searched in found.items()]


def _bundled(folders: tuple[str, ...]) -> list[str]:
    """List the library folders of NVIDIA's and torch's packages."""
    found = []
    for folder in folders:
        found.append(f"{folder}/torch/lib")
        try:
            found += [f"{folder}/nvidia/{name}/lib" for name in sorted(os.listdir(f"{folder}/nvidia"))]
        except OSError:
            continue
    return found


def _cache(machine: Machine) -> list[str]:
    """Read the paths out of the loader's cache: its strings that name shared objects."""
    try:
        with open(machine.path("/etc/ld.so.cache"), "rb") as stream:
            data = stream.read(8 << 20)
    except OSError:
        return []
    return [part.decode("utf-8", "replace") for part in data.split(b"\0") if part.startswith(b"/") and b".so" in part]
