"""The packages of another environment, read from their metadata files: names, versions, requirements, modules."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import msgspec

from aifix.probes import interpreter as interpreters
from aifix.probes.interpreter import Interpreter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aifix.probes.machine import Machine

HEADERS = 256 << 10
"""Bytes of a METADATA file that may be its headers; the description follows them."""
LARGE = 24 << 20
"""Bytes of a compiled module above which it is not looked into."""


class Package(msgspec.Struct, frozen=True):
    """One installed distribution."""

    name: str
    version: str
    folder: str
    info: str
    requires: tuple[str, ...] = ()
    python: str = ""
    installer: str = ""

    @property
    def key(self) -> str:
        """The name as package indexes compare it."""
        return canonical(self.name)


class Installed(msgspec.Struct, frozen=True):
    """All distributions of an interpreter: the one that is imported by key, and those that it hides."""

    interpreter: Interpreter
    packages: dict[str, Package]
    hidden: tuple[Package, ...] = ()

    def version(self, name: str) -> str:
        """Give a distribution's version; '' when it is not installed."""
        found = self.packages.get(canonical(name))
        return found.version if found else ""


def canonical(name: str) -> str:
    """Write a distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def of(machine: Machine) -> Installed | None:
    """Read the target's packages once; None when there is no target."""
    if not machine.target.known:
        return None
    return machine.once("packages", lambda: read(interpreters.read(machine.target.python, machine.environ)))


def read(interpreter: Interpreter) -> Installed:
    """Read all distributions of an interpreter. Of one that lies in two folders, Python imports the first."""
    packages: dict[str, Package] = {}
    hidden: list[Package] = []
    for folder in interpreter.folders:
        here: dict[str, list[Package]] = {}
        for package in _in_folder(folder):
            here.setdefault(package.key, []).append(package)
        for key, found in here.items():
            if key in packages:
                hidden += found
            else:
                packages[key] = found[0]
                hidden += found[1:]
    return Installed(interpreter, packages, tuple(hidden))


def _in_folder(folder: str) -> Iterable[Package]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        if name.startswith("~"):  # what pip leaves of an uninstall that was interrupted
            continue
        if name.endswith(".dist-info"):
            path = f"{folder}/{name}/METADATA"
        elif name.endswith(".egg-info"):
            path = f"{folder}/{name}" if os.path.isfile(f"{folder}/{name}") else f"{folder}/{name}/PKG-INFO"
        else:
            continue
        package = _package(folder, name, path)
        if package is not None:
            yield package


def _package(folder: str, info: str, path: str) -> Package | None:
    try:
        with open(path, "rb") as stream:
            head = stream.read(HEADERS)
    except OSError:
        return None
    end = head.find(b"\n\n")
    text = head[: end if end >= 0 else len(head)].decode("utf-8", "replace")
    fields: dict[str, list[str]] = {}
    for line in text.split("\n"):
        name, colon, value = line.partition(": ")
        if colon and name in {"Name", "Version", "Requires-Dist", "Requires-Python"}:
            fields.setdefault(name, []).append(value.strip())
    if "Name" not in fields or "Version" not in fields:
        return None
    return Package(
        fields["Name"][0],
        fields["Version"][0],
        folder,
        info,
        tuple(fields.get("Requires-Dist", ())),
        fields.get("Requires-Python", [""])[0],
    )


def find_module(interpreter: Interpreter, module: str) -> str:
    """Give the path of an importable module or package in the package folders; '' when there is none."""
    parts = module.split(".")
    for folder in interpreter.folders:
        found = module_in(folder, parts)
        if found:
            return found
    return ""


def module_in(folder: str, parts: list[str]) -> str:
    """Give the path of a module below one folder: a package, a file or a compiled module."""
    at = "/".join([folder, *parts])
    try:
        if os.path.isdir(at) and os.listdir(at):
            return at
        if os.path.isfile(f"{at}.py"):
            return f"{at}.py"
        names = os.listdir(os.path.dirname(at))
    except (OSError, ValueError):
        return ""
    compiled = [name for name in names if name.startswith(f"{parts[-1]}.") and name.endswith((".so", ".pyd"))]
    return f"{os.path.dirname(at)}/{compiled[0]}" if compiled else ""


def numbers(version: str) -> tuple[int, ...]:
    """Give the numbers of a version, to compare it by; a build's name behind a `+` is no part of it."""
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:4])


def compiled(package: Package) -> list[str]:
    """List the compiled modules of a package by its record, the smaller ones first."""
    try:
        with open(f"{package.folder}/{package.info}/RECORD", encoding="utf-8", errors="replace") as stream:
            rows = re.findall(r"^([^,\n]+\.(?:so|pyd)),[^,\n]*,(\d*)", stream.read(8 << 20), re.MULTILINE)
    except OSError:
        return []
    sized = sorted(((int(size or 0), name) for name, size in rows if int(size or 0) < LARGE))
    return [os.path.join(package.folder, name) for _, name in sized[:60]]
