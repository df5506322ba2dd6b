"""Files in the working folder that hide an installed package or a module of the standard library."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aifix.probes.packages import Installed

_MODULES: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset())
USUAL = frozenset({"test", "tests", "this", "site", "antigravity"})
"""Names of standard modules that programs use for their own and nobody imports."""


def shadows(folder: str, installed: Installed) -> dict[str, str]:
    """Give the hidden packages and standard modules by name, each with the file that hides it."""
    try:
        with os.scandir(folder) as entries:
            listed = [(entry.name, entry.is_dir(), entry.path) for entry in entries if not entry.name.startswith((".", "_"))]
    except OSError:
        return {}
    if os.path.realpath(folder) in map(os.path.realpath, installed.interpreter.folders):
        return {}
    found: dict[str, str] = {}
    for name, is_folder, path in listed[:5000]:
        stem = name if is_folder else name.removesuffix(".py") if name.endswith(".py") else ""
        if not stem.isidentifier() or stem in USUAL or (is_folder and not os.path.exists(f"{path}/__init__.py")):
            continue
        if (stem in _MODULES and stem not in sys.builtin_module_names) or any(_importable(one, stem) for one in installed.interpreter.folders):
            found[stem] = path
    return found


def _importable(folder: str, name: str) -> bool:
    return os.path.exists(f"{folder}/{name}/__init__.py") or os.path.exists(f"{folder}/{name}.py")
