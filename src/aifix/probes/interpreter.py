"""What a folder of files tells of a Python interpreter: its version and where its packages lie. Nothing is run."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
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
    path = Path(python)
    prefix = path.parent.parent if path.parent.name in {"bin", "Scripts"} else path.parent
    settings = _settings(prefix)
    base = Path(settings["home"]).parent if settings.get("home") else Path(os.path.realpath(python)).parent.parent
    if sys.platform == "win32":
        base = Path(settings["home"]) if settings.get("home") else prefix
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
    return Interpreter(str(prefix), str(base), version, listed + _linked(listed), bool(settings))


def _settings(prefix: Path) -> dict[str, str]:
    """Read pyvenv.cfg; empty where the prefix is no virtual environment."""
    try:
        text = (prefix / "pyvenv.cfg").read_text("utf-8", "replace")
    except OSError:
        return {}
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _version(settings: Mapping[str, str], prefix: Path, base: Path, python: str) -> str:
    for name in ("version", "version_info"):
        found = _VERSION.match(settings.get(name, ""))
        if found:
            return found[1]
    found = re.search(r"python(\d\.\d+)", os.path.basename(os.path.realpath(python)))
    if found:
        return found[1]
    for folder in (prefix, base):
        names = sorted((item.name for item in folder.glob("lib/python3.*") if (item / "site-packages").is_dir()), reverse=True)
        if names:
            return names[0].removeprefix("python")
    return ""


def _packages(prefix: Path, version: str) -> list[str]:
    """List the package folders of a prefix that exist; Debian's too."""
    names = [f"lib/python{version}/site-packages", f"lib64/python{version}/site-packages", "Lib/site-packages"]
    if str(prefix) in {"/usr", "/usr/local"}:
        found = [f"/usr/local/lib/python{version}/dist-packages", "/usr/lib/python3/dist-packages", f"/usr/lib/python{version}/dist-packages"]
        return [*(str(prefix / name) for name in names), *found]
    folders: list[str] = []
    seen: set[str] = set()
    for name in names:
        folder = prefix / name
        if folder.is_dir() and (real := os.path.realpath(folder)) not in seen:  # lib64 is often a link to lib
            seen.add(real)
            folders.append(str(folder))
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
            try:
                lines = Path(folder, name).read_text("utf-8", "replace").splitlines()
            except OSError:
                continue
            for line in lines:
                entry = line.strip()
                if entry and not entry.startswith(("import ", "import\t", "#")):
                    path = os.path.join(folder, entry)
                    if os.path.isdir(path) and path not in folders:
                        found.append(path)
    return tuple(dict.fromkeys(found))
