"""Lock files of npm, yarn (1 and later) and pnpm: which versions they pin, and who wants each; read line by line, without their programs."""

from __future__ import annotations

import json
import os
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from aifix.probes.node_tree import by_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

LARGEST = 32 << 20
"""Bytes of a lock file that are read."""
LONGEST = 4000
"""Characters of a line from which it is passed over: those with a checksum have two hundred."""
NAMES = ("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml")
_LINE = re.compile(
    r'^( *)(?:"([^"]*)"|\'([^\']*)\'|([^\s:#"\'](?:[^\s:]|:(?=\S))*(?:,? (?:[^\s:]|:(?=\S))+)*?))(?::(?: |$)|(?<!,) (?="|\d|[a-z]))(.*)$'
)
_PNPM = re.compile(r"^/?(@?[^@(]+)[@/]((?:\d|file:|link:|https?:)[^(_]*)")


class Locked(msgspec.Struct, frozen=True):
    """What one lock file pins."""

    file: str
    manager: str
    versions: dict[str, dict[str, list[str]]] = {}
    """Package, its versions, and who wants each (`legacy@1.0.0 (^3.10.0)`)."""
    problem: str = ""

    @property
    def several(self) -> dict[str, dict[str, list[str]]]:
        """The packages that are pinned in several versions."""
        return {name: found for name, found in sorted(self.versions.items()) if len(found) > 1}


def read(folder: str, wants: Mapping[str, str] | None = None) -> Locked | None:
    """Read the lock file of a project; None when it has none.

    Args:
        folder: where package.json lies.
        wants: the project's own requirements: yarn 1 does not repeat them in its lock file.

    """
    for name in NAMES:
        path = f"{folder}/{name}"
        if os.path.isfile(path):
            return _read(path, name, wants or {})
    return None


def _read(path: str, name: str, wants: Mapping[str, str]) -> Locked:
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as stream:
            text = stream.read(LARGEST)
    except OSError as error:
        return Locked(name, "", problem=f"{name} cannot be read: {error.strerror}")
    if re.search(r"^<{7} ", text, re.MULTILINE):
        return Locked(name, "", problem=f"{name} holds conflict marks of git: no package manager reads it")
    readers: dict[str, tuple[str, Callable[[str], dict[str, dict[str, list[str]]]]]] = {
        "yarn.lock": ("yarn", partial(_yarn, wants=wants)),
        "pnpm-lock.yaml": ("pnpm", _pnpm),
    }
    manager, reader = readers.get(name, ("npm", _npm))
    try:
        found = reader(text)
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        return Locked(name, manager, problem=f"{name} is damaged: {str(error)[:120]}")
    return Locked(name, manager, {package: by_version(wanted) for package, wanted in found.items()})


def _npm(text: str) -> dict[str, dict[str, list[str]]]:
    """Read versions 2 and 3 by `packages`, version 1 by `dependencies`."""
    given = json.loads(text)
    places: dict[str, Any] = given.get("packages") or dict(_old("", given))
    found: dict[str, dict[str, list[str]]] = {}
    for place, entry in places.items():
        if place and isinstance(entry, dict) and entry.get("version") and not entry.get("link"):
            found.setdefault(_package(place, entry), {}).setdefault(str(entry["version"]), [])
    for place, entry in places.items():
        if not isinstance(entry, dict):
            continue
        wants = {
            **(entry.get("dependencies") or {}),
            **(entry.get("optionalDependencies") or {}),
            **({} if place else entry.get("devDependencies") or {}),
        }
        who = f"{_package(place, entry)}@{entry.get('version', '')}" if place else str(given.get("name") or "the project")
        for name, wanted in wants.items():
            other = _resolve(places, place, name)
            if other is not None and other.get("version") and isinstance(wanted, str):
                named = str(other.get("name") or name)
                found.setdefault(named, {}).setdefault(str(other["version"]), []).append(f"{who} ({wanted})")
    return found


def _package(place: str, entry: Mapping[str, Any]) -> str:
    return str(entry.get("name") or place.rpartition("node_modules/")[2])


def _resolve(places: Mapping[str, Any], place: str, name: str) -> dict[str, Any] | None:
    """Find a package as node does: in the nearest node_modules upwards."""
    at = place
    while True:
        found = places.get(f"{at}/node_modules/{name}" if at else f"node_modules/{name}")
        if found is not None:
            chosen: dict[str, Any] = places.get(str(found["resolved"]), found) if found.get("link") else found
            return chosen
        if not at:
            return None
        at = at.rpartition("node_modules/")[0].rstrip("/") if "node_modules/" in at else ""


def _old(place: str, item: Mapping[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Write a lock file of version 1 in the form of the later ones."""
    for name, entry in (item.get("dependencies") or {}).items():
        here = f"{place}/node_modules/{name}".lstrip("/")
        yield here, {"version": entry.get("version"), "dependencies": entry.get("requires") if isinstance(entry.get("requires"), dict) else {}}
        yield from _old(here, entry)


def _yarn(text: str, wants: Mapping[str, str]) -> dict[str, dict[str, list[str]]]:
    entries = [(keys, entry) for keys, entry in _blocks(text).items() if isinstance(entry, dict) and entry.get("version")]
    by_wish: dict[str, tuple[str, str]] = {}
    found: dict[str, dict[str, list[str]]] = {}
    for keys, entry in entries:
        for key in keys.replace('"', "").split(", "):
            name, _, wanted = key[1:].partition("@")
            name = key[:1] + name
            by_wish[f"{name}@{wanted.removeprefix('npm:')}"] = (name, str(entry["version"]))
            if not wanted.startswith("workspace:") and entry["version"] != "0.0.0-use.local":
                found.setdefault(name, {}).setdefault(str(entry["version"]), [])
    for keys, entry in entries:
        who = keys.replace('"', "").split(", ")[0]
        name = who[:1] + who[1:].partition("@")[0]
        local = entry["version"] == "0.0.0-use.local"
        for kind in ("dependencies", "optionalDependencies"):
            for other, wanted in _dictionary(entry.get(kind)).items():
                known = by_wish.get(f"{other}@{str(wanted).removeprefix('npm:')}")
                if known is not None and known[1] in found.get(other, {}):
                    found[other][known[1]].append(f"{name}{'' if local else '@' + str(entry['version'])} ({str(wanted).removeprefix('npm:')})")
    for name, wanted in wants.items():
        known = by_wish.get(f"{name}@{wanted}")
        if known is not None and not found[name][known[1]]:
            found[name][known[1]].append(f"the project ({wanted})")
    return found


def _pnpm(text: str) -> dict[str, dict[str, list[str]]]:
    given = _blocks(text)
    found: dict[str, dict[str, list[str]]] = {}
    packages = {**_dictionary(given.get("packages")), **_dictionary(given.get("snapshots"))}
    for key, entry in packages.items():
        known = _PNPM.match(key)
        if known is None:
            continue
        found.setdefault(known[1], {}).setdefault(known[2], [])
        for kind in ("dependencies", "optionalDependencies"):
            for name, wanted in _dictionary(_dictionary(entry).get(kind)).items():
                version = re.split(r"[(_]", str(wanted))[0]
                found.setdefault(name, {}).setdefault(version, []).append(f"{known[1]}@{known[2]} ({version})")
    importers = _dictionary(given.get("importers")) or {".": given}
    for place, importer in importers.items():
        who = "the project" if place == "." else place
        for kind in ("dependencies", "devDependencies", "optionalDependencies"):
            for name, entry in _dictionary(_dictionary(importer).get(kind)).items():
                version, wanted = (str(entry.get("version", "")), str(entry.get("specifier", ""))) if isinstance(entry, dict) else (str(entry), "")
                version = re.split(r"[(_]", version)[0]
                if version in found.get(name, {}):
                    found[name][version].append(f"{who} ({wanted or version})")
    return found


def _dictionary(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _blocks(text: str) -> dict[str, Any]:
    """Read indented `key: value` and `key "value"` lines into dictionaries: as much of YAML, and of yarn 1's own form, as lock files use.

    A YAML reader takes seconds for the lock file of a large project, and does not read yarn 1's.
    """
    top: dict[str, Any] = {}
    stack: list[tuple[int, dict[str, Any]]] = [(-1, top)]
    for line in text.splitlines():
        found = _LINE.match(line) if len(line) < LONGEST else None
        if found is None:
            continue
        indent = len(found[1])
        key = found[2] if found[2] is not None else found[3] if found[3] is not None else found[4]
        if found[2] is not None and line.lstrip().count('"') > 2 and line.rstrip().endswith(":"):
            key = line.strip().rstrip(":")  # "a@^1", "a@^2":
        while stack[-1][0] >= indent:
            stack.pop()
        value = found[5].strip()
        if value.startswith("{") and ":" in value:  # pnpm's {specifier: ^1, version: 1.0.0}
            stack[-1][1][key] = dict(re.findall(r"([\w.@/-]+): *'?([^,}']+)'?", value))
        elif value:
            stack[-1][1][key] = value.strip("'\"")
        else:
            nested: dict[str, Any] = {}
            stack[-1][1][key] = nested
            stack.append((indent, nested))
    return top


def disagreements(locked: Locked, installed: Mapping[str, Iterable[str]]) -> list[str]:
    """Name the packages that lie in node_modules in a version that the lock file does not name."""
    found = []
    for name, versions in installed.items():
        pinned = locked.versions.get(name)
        if pinned:
            found += [
                f"node_modules holds {name} {version}, and {locked.file} pins {', '.join(pinned)}" for version in versions if version not in pinned
            ]
    return found
