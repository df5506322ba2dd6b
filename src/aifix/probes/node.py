"""deps.node: package.json and node_modules read without npm: versions side by side, unmet peers, engines."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import msgspec

from aifix.probes.disk import absolute
from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear
from aifix.probes.semver import satisfies

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST = 20000
"""Packages read from one tree."""
SINGLE = {"react", "react-dom", "vue", "three", "graphql", "@angular/core", "webpack", "typescript", "esbuild", "@babel/core", "svelte", "rxjs"}
"""Packages of which a second copy breaks programs, and does not merely cost space."""


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


def tree(case: Case) -> Finding:
    """Look at a node tree."""
    folder = _folder(case)
    if not folder:
        return absent(f"there is no package.json in {case.machine.cwd} or above it")
    modules = case.machine.once(f"node {folder}", lambda: read(folder))
    if isinstance(modules, str):
        return absent(modules)
    installed = [one for one in modules.values() if one.path != folder]
    if not os.path.isdir(f"{folder}/node_modules"):
        return _without_tree(case, folder, modules[folder])
    several = versions(installed)
    problems = unmet(modules, folder)
    node = case.machine.once("node version", lambda: _node(case))
    engines = [text for one in modules.values() if (text := _engine(one, node))] if node else []
    data: dict[str, Any] = {"folder": folder, "packages": len(installed), "node": node}
    data["several"] = {name: [{"version": version, "wanted_by": wanted} for version, wanted in found.items()] for name, found in several.items()}
    data |= {"unmet": problems, "engines": engines}
    evidence = [_tell(name, found) for name, found in sorted(several.items(), key=lambda item: item[0] not in SINGLE)][:12]
    asked = case.text("package", "peer", "module", "name", "dependency")
    return _judge(case, asked=asked, several=several, problems=[*problems, *engines], data=data, evidence=evidence, modules=modules)


def _judge(
    case: Case,
    *,
    asked: str,
    several: Mapping[str, Mapping[str, list[str]]],
    problems: list[str],
    data: dict[str, Any],
    evidence: list[str],
    modules: Mapping[str, Module],
) -> Finding:
    """Answer for the suspicion at hand."""
    if case.about("npm.module-missing", "npm.optional-native") and asked:
        found = sorted({one.version for one in modules.values() if one.name == asked})
        if not found:
            return confirmed(f"{asked} is not in {data['folder']}/node_modules", data)
        return refuted(f"{asked} {', '.join(found)} is in node_modules", data)
    if case.about("npm.version-conflict", "npm.duplicate-react"):
        name = asked if asked in several else next((one for one in several if one in SINGLE), "")
        if case.about("npm.duplicate-react"):
            name = next((one for one in ("react", "react-dom") if one in several), "")
        if name:
            return confirmed(_tell(name, several[name]), data, [line for line in evidence if not line.startswith(f"{name} ")])
        if asked:
            return refuted(f"node_modules holds one version of {asked}", data, evidence)
    if case.about("npm.eresolve", "npm.engine", "npm.version-conflict"):
        mine = [text for text in problems if not asked or asked in text] or problems
        if mine:
            return confirmed(mine[0], data, [*mine[1:], *evidence])
        return unclear("the tree that is installed has no unmet peer and no unmet engine", data, evidence)
    if problems:
        return confirmed(problems[0] + (f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""), data, [*problems[1:], *evidence])
    harmful = [name for name in several if name in SINGLE]
    if harmful:
        return confirmed(_tell(harmful[0], several[harmful[0]]), data, evidence)
    summary = f"{data['packages']} packages fit together"
    if several:
        # Several versions side by side are how npm works; they are told, and are no failure by themselves.
        return refuted(f"{summary}; {len(several)} are there in several versions: {evidence[0]}", data, evidence[1:])
    return refuted(f"{summary}, each in one version", data)


def _folder(case: Case) -> str:
    given = str(case.options.get("node", ""))
    at = absolute(case, given) if given else os.path.abspath(case.machine.cwd)
    for _ in range(64):
        if os.path.isfile(f"{at}/package.json"):
            return at
        if given or os.path.dirname(at) == at:
            return ""
        at = os.path.dirname(at)
    return ""


def read(folder: str) -> dict[str, Module] | str:
    """Read a tree by folder, the project itself first; a sentence when its package.json cannot be read."""
    top = _read_one(folder, "")
    if top is None:
        return f"{folder}/package.json is no valid JSON"
    found = {folder: top}
    waiting = [(folder, folder)]
    while waiting and len(found) < MOST:
        parent, at = waiting.pop()
        for path in _children(f"{at}/node_modules"):
            one = _read_one(path, parent)
            if one is not None and path not in found:
                found[path] = one
                waiting.append((path, path))
    return found


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
    needs = _strings(given.get("dependencies")) | ({} if parent else _strings(given.get("devDependencies")))
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
        found = modules.get(f"{at}/node_modules/{name}")
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
        if name in needs and (one := resolve(modules, path, name)) is not None and one.version in found:
            found[one.version].append(f"{who}{'@' + version if version else ''} ({needs[name]})")
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


def _engine(one: Module, node: str) -> str:
    wanted = one.engines.get("node", "")
    if wanted and satisfies(node, wanted) is False:
        return f"{one.name}{'@' + one.version if one.version else ''} wants node {wanted}, and node is {node}"
    return ""


def _node(case: Case) -> str:
    """Read node's version without running it: from its headers, or the folder that it lies in."""
    import re
    import shutil

    where = shutil.which("node", path=case.machine.environ.get("PATH"))
    if not where:
        return ""
    real = os.path.realpath(where)
    prefix = os.path.dirname(os.path.dirname(real))
    try:
        with open(f"{prefix}/include/node/node_version.h", encoding="utf-8", errors="replace") as stream:
            numbers = dict(re.findall(r"#define NODE_(MAJOR|MINOR|PATCH)_VERSION (\d+)", stream.read(16384)))
        return f"{numbers['MAJOR']}.{numbers['MINOR']}.{numbers['PATCH']}"
    except (OSError, KeyError):
        found = re.search(r"v?(\d+\.\d+\.\d+)", prefix)
        return found[1] if found else ""


def _without_tree(case: Case, folder: str, top: Module) -> Finding:
    wanted = len(top.needs)
    data = {"folder": folder, "packages": 0}
    if wanted and (case.suspicion or not os.path.isfile(f"{folder}/.pnp.cjs")):
        return confirmed(f"{folder} has no node_modules, and its package.json wants {wanted} packages", data)
    return unclear(f"{folder} has no node_modules, and wants none", data)


def _tell(name: str, found: Mapping[str, list[str]]) -> str:
    parts = [
        f"{version} ({', '.join(wanted[:3]) or 'nobody asks for it'}{' and more' if len(wanted) > 3 else ''})" for version, wanted in found.items()
    ]
    return f"{name} is there {len(found)} times: {'; '.join(parts)}"
