"""What a folder of files tells of a Python interpreter: its version and where its packages lie. Nothing is run."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERSION = re.compile(r"(\d+\.\d+)")


class Interpreter(msgspec.Struct, frozen=True):
    """An interpreter's prefix, version and package folders, in the order of its search path."""

    prefix: str
    base: str
    version: str
    folders: tuple[str, ...]
    environment: bool
    """Whether it is a virtual environment."""


def read(python: str, environ: Mapping[str, str] | None = None) -> Interpreter:
    """Read what the files around an interpreter tell."""
    environ = environ or {}
    folder = os.path.dirname(python)
    prefix = os.path.dirname(folder) if os.path.basename(folder) in {"bin", "Scripts"} else folder
    settings = _settings(prefix)
    home = settings.get("home", "")
    base = os.path.dirname(home) if home else os.path.dirname(os.path.dirname(os.path.realpath(python)))
    if sys.platform == "win32":
        base = home or prefix
    version = _version(settings, prefix, base, python)
    folders = [folder for folder in environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    folders += _packages(prefix, version)
    if not settings or settings.get("include-system-site-packages", "").lower() == "true":
        if base != prefix:
            folders += _packages(base, version)
        if not environ.get("PYTHONNOUSERSITE"):
            home = environ.get("PYTHONUSERBASE") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".local")
            folders.append(f"{home}/lib/python{version}/site-packages")
    listed = tuple(dict.fromkeys(folder for folder in folders if os.path.isdir(folder)))
    return Interpreter(prefix, base, version, listed + _linked(listed), bool(settings))


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(1 << 16)
    except OSError:
        return ""


def _settings(prefix: str) -> dict[str, str]:
    """Read pyvenv.cfg; empty where the prefix is no virtual environment."""
    pairs = (line.partition("=") for line in _read(f"{prefix}/pyvenv.cfg").splitlines() if "=" in line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _version(settings: Mapping[str, str], prefix: str, base: str, python: str) -> str:
    for name in ("version", "version_info"):
        found = _VERSION.match(settings.get(name, ""))
        if found:
            return found[1]
    found = re.search(r"python(\d\.\d+)", os.path.basename(os.path.realpath(python)))
    if found:
        return found[1]
    for folder in (prefix, base):
        try:
            names = [name for name in os.listdir(f"{folder}/lib") if re.fullmatch(r"python3\.\d+", name)]
        except OSError:
            continue
        known = [name for name in names if os.path.isdir(f"{folder}/lib/{name}/site-packages")]
        if known:
            return max(known, key=lambda name: int(name.rpartition(".")[2])).removeprefix("python")
    return ""


def _packages(prefix: str, version: str) -> list[str]:
    """List the package folders of a prefix that exist; Debian's too."""
    names = [f"lib/python{version}/site-packages", f"lib64/python{version}/site-packages", "Lib/site-packages"]
    if prefix in {"/usr", "/usr/local"}:
        found = [f"/usr/local/lib/python{version}/dist-packages", "/usr/lib/python3/dist-packages", f"/usr/lib/python{version}/dist-packages"]
        return [*(f"{prefix}/{name}" for name in names), *found]
    folders: list[str] = []
    seen: set[str] = set()
    for name in names:
        folder = f"{prefix}/{name}"
        if os.path.isdir(folder) and (real := os.path.realpath(folder)) not in seen:  # lib64 is often a link to lib
            seen.add(real)
            folders.append(folder)
    return folders


def _linked(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Read the paths that .pth files add (editable installs); lines that would be executed are left alone."""
    found: list[str] = []
    for folder in folders:
        try:
            names = [name for name in os.listdir(folder) if name.endswith(".pth")]
        except OSError:
            continue
        for name in sorted(names):
            for line in _read(f"{folder}/{name}").splitlines():
                entry = line.strip()
                if entry and not entry.startswith(("import ", "import\t", "#")):
                    path = os.path.join(folder, entry)
                    if os.path.isdir(path) and path not in folders:
                        found.append(path)
    return tuple(dict.fromkeys(found))
