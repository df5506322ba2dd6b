"""Whether an extension's undefined symbol exists in the installed torch, and which copies of one library an environment holds."""

from __future__ import annotations

import mmap
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aifix.probes.interpreter import Interpreter

LIBRARIES = ("libc10.so", "libtorch_python.so", "libc10_cuda.so", "libtorch_cpu.so", "libtorch_cuda.so", "libshm.so")
"""Torch's libraries, the smaller ones first."""
_OPENMP = re.compile(r"lib(?:iomp5|gomp|omp)(?:-[0-9a-f]+)?(?:\.so[\d.]*|\.dylib)$|libiomp5md\.dll$|vcomp\d*\.dll$")


def provided(torch: str, symbol: str) -> bool | None:
    """Tell whether a symbol is named in torch's libraries; None when there is none to look into.

    Args:
        torch: the folder of the torch package.
        symbol: its name as the loader printed it.

    """
    wanted = symbol.encode("utf-8", "replace") + b"\0"  # a linker may store a name as the end of a longer one
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
