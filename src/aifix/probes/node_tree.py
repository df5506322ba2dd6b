"""A node project's packages as they lie on the disk, read without npm: by npm, yarn or pnpm; who wants which, and what is unmet."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import msgspec

from aifix.probes.semver import satisfies

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST = 20000
"""Packages read from one tree."""


class Module(msgspec.Struct, frozen=True):
    """One package of a tree, by the folder that it lies in."""

    name: str
    version: str
    path: str
    needs: dict[str, str]
    optional: dict[str, str]
    peers: dict[str, str]
    loose_peers: tuple[str, ...]
    engines: dict[str, str]
    parent: str

    @property
    def place(self) -> str:
        """The name under which it lies in node_modules: another one than its own where it was installed by an alias."""
        return self.path.rpartition("/node_modules/")[2] if "/node_modules/" in self.path else self.name


def read(folder: str) -> dict[str, Module] | str:
    """Read a tree by folder, the project itself first; a sentence when its package.json cannot be read."""
    top = _read_one(folder, "")
    if top is None:
        return f"{folder}/package.json is no valid JSON"
    found = {folder: top}
    waiting = [(folder, f"{folder}/node_modules"), *_store(folder)]
    while waiting and len(found) < MOST:
        parent, at = waiting.pop()
        for path in _children(at):
            one = _read_one(path, parent)
            if one is not None and path not in found:
                found[path] = one
                waiting.append((path, f"{path}/node_modules"))
    return found


def _store(folder: str) -> list[tuple[str, str]]:
    """List pnpm's store of this project: each package lies there beside links to what it needs."""
    store = f"{folder}/node_modules/.pnpm"
    try:
        names = sorted(os.listdir(store), reverse=True)
    except OSError:
        return []
    return [(folder, f"{store}/{name}/node_modules") for name in names if not name.startswith(".") and name != "node_modules"]


def _children(folder: str) -> Iterable[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        if name.startswith("."):
            continue
        path = f"{folder}/{name}"
        if name.startswith("@"):
            yield from _children(path)
        elif os.path.isfile(f"{path}/package.json"):
            yield os.path.realpath(path) if os.path.islink(path) else path


def _read_one(path: str, parent: str) -> Module | None:
    try:
        with open(f"{path}/package.json", encoding="utf-8-sig") as stream:
            given = json.load(stream)
    except (OSError, ValueError):
        return None
    if not isinstance(given, dict):
        return None
    needs = _strings(given.get("dependencies")) | (_strings(given.get("devDependencies")) if "/node_modules/" not in path else {})
    meta = given.get("peerDependenciesMeta")
    loose = tuple(name for name, item in meta.items() if isinstance(item, dict) and item.get("optional")) if isinstance(meta, dict) else ()
    engines = given.get("engines")
    return Module(
        str(given.get("name", os.path.basename(path))),
        str(given.get("version", "")),
        path,
        needs,
        _strings(given.get("optionalDependencies")),
        _strings(given.get("peerDependencies")),
        loose,
        _strings(engines) if isinstance(engines, dict) else {},
        parent,
    )


def _strings(value: Any) -> dict[str, str]:
    return {str(name): item for name, item in value.items() if isinstance(item, str)} if isinstance(value, dict) else {}


def resolve(modules: Mapping[str, Module], path: str, name: str) -> Module | None:
    """Find a package as node does: in the nearest node_modules upwards."""
    at = path
    for _ in range(64):
        place = f"{at}/node_modules/{name}"
        found = modules.get(place) or (modules.get(os.path.realpath(place)) if os.path.islink(place) else None)
        if found is not None:
            return found
        above = os.path.dirname(at)
        if above == at:
            return None
        at = above
    return None


def versions(installed: Iterable[Module]) -> dict[str, dict[str, list[str]]]:
    """Give the packages that are there in several versions: by name and version, who wants it."""
    listed = list(installed)
    by_name: dict[str, set[str]] = {}
    for one in listed:
        by_name.setdefault(one.name, set()).add(one.version)
    several = {name for name, found in by_name.items() if len(found) > 1}
    if not several:
        return {}
    return {name: _wanters(name, listed) for name in sorted(several)}


def _wanters(name: str, listed: list[Module]) -> dict[str, list[str]]:
    modules = {one.path: one for one in listed}
    tops = {one.parent for one in listed} - set(modules)
    found: dict[str, list[str]] = {one.version: [] for one in listed if one.name == name}
    asking = [(path, one.name, one.version, one.needs | one.optional | one.peers) for path, one in modules.items()]
    for top in tops:
        own = _read_one(top, "")
        if own is not None:
            asking.append((top, own.name or "the project", "", own.needs | own.optional))
    for path, who, version, needs in asking:
        for key, wanted in needs.items():
            if (key == name or wanted.startswith(f"npm:{name}@")) and (one := resolve(modules, path, key)) is not None and one.version in found:
                found[one.version].append(f"{who}{'@' + version if version else ''} ({wanted})")
    return by_version(found)


def by_version(found: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Order versions as numbers."""
    return dict(sorted(found.items(), key=lambda item: [int(part) if part.isdigit() else 0 for part in item[0].split(".")[:3]]))


def unmet(modules: Mapping[str, Module], top: str) -> list[str]:
    """Name dependencies and peers that are missing or of another version."""
    found: list[str] = []
    for path, one in modules.items():
        who = one.name if path == top else f"{one.name}@{one.version}"
        for kind, listed in (("needs", one.needs), ("wants as peer", one.peers)):
            for name, wanted in listed.items():
                if name in one.optional:
                    continue
                other = resolve(modules, path if kind == "needs" else os.path.dirname(path), name) or resolve(modules, path, name)
                if other is None:
                    if kind == "needs" or name not in one.loose_peers:
                        found.append(f"{who} {kind} {name}@{wanted}, which is not installed")
                elif satisfies(other.version, wanted) is False:
                    found.append(f"{who} {kind} {name}@{wanted}, and {other.version} is installed")
    return found
