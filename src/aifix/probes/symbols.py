"""Whether an extension's undefined symbol exists in the installed torch, and which copies of one library an environment holds."""

from __future__ import annotations

import mmap
import os
import re
import time
from typing import TYPE_CHECKING

from aifix.probes import elf, packages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aifix.probes.interpreter import Interpreter
    from aifix.probes.packages import Installed

LIBRARIES = ("libc10.so", "libtorch_python.so", "libc10_cuda.so", "libtorch_cpu.so", "libtorch_cuda.so", "libshm.so")
"""Torch's libraries, the smaller ones first."""
C10 = ("_ZN3c10", "_ZNK3c10")
"""Names of c10, torch's base library, whose errors and types change with every release."""
SYMBOLS = 400
"""Symbols of one module that are looked up."""
_CUDA = re.compile(r"(lib(?:cudnn|cublas|cublasLt|cudart|nccl|cufft|cusparse|nvrtc|nvJitLink))\.so")
_OPENMP = re.compile(r"lib(?:iomp5|gomp|omp)(?:-[0-9a-f]+)?(?:\.so[\d.]*|\.dylib)$|libiomp5md\.dll$|vcomp\d*\.dll$")


def provided(torch: str, symbol: str) -> bool | None:
    """Tell whether a symbol is named in torch's libraries; None when there is none to look into.

    Args:
        torch: the folder of the torch package.
        symbol: its name as the loader printed it.

    """
    named = symbol.removeprefix("_") if symbol.startswith("__Z") else symbol  # macOS puts an underscore before every name
    wanted = named.encode("utf-8", "replace") + b"\0"  # a linker may store a name as the end of a longer one
    looked = False
    for name in LIBRARIES:
        try:
            with open(f"{torch}/lib/{name}", "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
                looked = True
                # names of dynamic symbols stand near a library's beginning
                if data.find(wanted, 0, 96 << 20) >= 0:
                    return True
        except (OSError, ValueError):
            continue
    return False if looked else None


def unresolved(installed: Installed, torch: str, seconds: float) -> dict[str, tuple[str, str]]:
    """Name packages built on torch whose modules want a symbol of c10 that this torch does not have: they were built for another one.

    Args:
        installed: the environment.
        torch: the folder of the torch package.
        seconds: how long to look.

    Returns:
        Package, the module's path and the first such symbol.

    """
    deadline = time.monotonic() + seconds
    known: dict[str, bool | None] = {}
    found: dict[str, tuple[str, str]] = {}
    users = [one for one in installed.packages.values() if one.key != "torch" and any(re.match(r"(?i)torch\b(?!-)", text) for text in one.requires)]
    for package in sorted(users, key=lambda one: one.name):
        for path in packages.compiled(package):
            if time.monotonic() > deadline:
                return found
            try:
                wanted = elf.undefined(path, C10)
            except (OSError, elf.ElfError):
                continue
            for symbol in wanted[:SYMBOLS]:
                if symbol not in known and time.monotonic() < deadline:
                    known[symbol] = provided(torch, symbol)
                if known.get(symbol) is False:
                    found[package.key] = (path, symbol)
                    break
            if package.key in found:
                break
    return found


def cuda_copies(interpreter: Interpreter, environ: Mapping[str, str]) -> dict[str, list[str]]:
    """Name CUDA's libraries of which several copies may be loaded: those of the environment, and of LD_LIBRARY_PATH, which come first."""
    first = [folder for folder in environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if folder]
    folders = [*first, f"{interpreter.prefix}/lib"]
    for folder in interpreter.folders:
        folders.append(f"{folder}/torch/lib")
        folders += [f"{folder}/nvidia/{name}/lib" for name in _names(f"{folder}/nvidia")]
    found: dict[str, dict[str, str]] = {}
    for folder in dict.fromkeys(folders):
        for name in _names(folder):
            library = _CUDA.match(name)
            if library:
                path = f"{folder}/{name}"
                found.setdefault(library[1], {}).setdefault(os.path.realpath(path), path)
    return {name: list(paths.values()) for name, paths in sorted(found.items()) if len({os.path.dirname(path) for path in paths}) > 1}


def openmp(interpreter: Interpreter) -> list[str]:
    """List the OpenMP runtimes in an environment, each file once."""
    found: dict[str, str] = {}
    folders = [*interpreter.folders, *(f"{folder}/torch/lib" for folder in interpreter.folders), f"{interpreter.prefix}/lib"]
    for folder in interpreter.folders:
        folders += [f"{folder}/{name}" for name in _names(folder) if name.endswith((".libs", ".dylibs"))]
        folders += [
            f"{folder}/{name}/{below}" for name in ("functorch", "sklearn", "numpy", "scipy", "lightgbm", "xgboost") for below in (".dylibs", "lib")
        ]
    for folder in folders:
        for name in _names(folder):
            if _OPENMP.search(name):
                path = f"{folder}/{name}"
                found.setdefault(os.path.realpath(path), path)
    return sorted(found.values())


def _names(folder: str) -> Iterable[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
