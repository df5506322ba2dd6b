"""deps.node: package.json, lock file and node_modules read without npm: versions side by side, unmet peers, engines; npm is asked beside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from msgspec import structs

from aifix.probes import node_lock, node_npm
from aifix.probes.disk import absolute
from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear
from aifix.probes.node_tree import Module, read, resolve, unmet, versions
from aifix.probes.semver import satisfies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.probes.node_lock import Locked

SINGLE = {"react", "react-dom", "vue", "three", "graphql", "@angular/core", "webpack", "typescript", "esbuild", "@babel/core", "svelte", "rxjs"}
"""Packages of which a second copy breaks programs, and does not merely cost space."""


def tree(case: Case) -> Finding:
    """Look at a node tree."""
    folder = _folder(case)
    if not folder:
        given = str(case.options.get("node", ""))
        return absent(
            f"there is no package.json in {absolute(case, given)}" if given else f"there is no package.json in {case.machine.cwd} or above it"
        )
    modules = case.machine.once(f"node {folder}", lambda: read(folder))
    if isinstance(modules, str):
        return absent(modules)
    installed = [one for one in modules.values() if one.path != folder]
    locked = case.machine.once(f"lock {folder}", lambda: node_lock.read(folder, modules[folder].needs))
    if not os.path.isdir(f"{folder}/node_modules"):
        return _without_tree(case, folder, modules[folder], locked)
    several = versions(installed)
    problems = unmet(modules, folder)
    node = case.machine.once("node version", lambda: _node(case))
    engines = [text for one in modules.values() if (text := _engine(one, node))] if node else []
    data: dict[str, Any] = {"folder": folder, "packages": len(installed), "node": node}
    data["several"] = {name: [{"version": version, "wanted_by": wanted} for version, wanted in found.items()] for name, found in several.items()}
    data |= {"unmet": problems, "engines": engines}
    evidence = [_tell(name, found) for name, found in sorted(several.items(), key=lambda item: item[0] not in SINGLE)][:12]
    evidence += _lock(locked, modules, installed, data)
    asked = case.text("package", "peer", "module", "name", "dependency")
    answer = _judge(case, asked=asked, several=several, problems=[*problems, *engines], data=data, evidence=evidence, modules=modules)
    return _npm(case, answer, installed, locked) if case.options.get("node") else answer


def _lock(locked: Locked | None, modules: Mapping[str, Module], installed: list[Module], data: dict[str, Any]) -> list[str]:
    """Compare what is installed with what the lock file pins."""
    if locked is None:
        return []
    data["lock"] = {"file": locked.file, "several": sorted(locked.several)}
    if locked.problem:
        data["lock"]["problem"] = locked.problem
        return [locked.problem]
    by_name: dict[str, list[str]] = {}
    for one in installed:
        if not os.path.islink(one.path) and "/node_modules/" in one.path:
            by_name.setdefault(one.name, []).append(one.version)
    differ = node_lock.disagreements(locked, by_name)
    top = next(iter(modules.values()))
    for name, wanted in top.needs.items():
        pinned = locked.versions.get(name, {})
        if pinned and all(satisfies(version, wanted) is False for version in pinned):
            differ.append(f"package.json wants {name}@{wanted}, and {locked.file} pins {', '.join(pinned)}: npm ci and its like refuse that")
    data["lock"]["differs"] = differ
    return differ[:8] + ([f"and {len(differ) - 8} more such differences"] if len(differ) > 8 else [])


def _npm(case: Case, answer: Finding, installed: list[Module], locked: Locked | None) -> Finding:
    """Ask npm too, of a tree that npm made, and show where it sees something else."""
    if locked is not None and locked.manager != "npm":
        return structs.replace(answer, data={**answer.data, "npm": {"agrees": None, "absent": f"{locked.file} is not npm's"}})
    folder = answer.data["folder"]
    said = case.machine.once(f"npm ls {folder}", lambda: node_npm.ask(case, folder))
    if said.absent:
        return structs.replace(answer, data={**answer.data, "npm": {"agrees": None, "absent": said.absent}}, evidence=(*answer.evidence, said.absent))
    optional = {name for one in installed for name in (*one.optional, *one.loose_peers)}
    differ = node_npm.compare(said, {(one.place, one.version) for one in installed}, answer.data["unmet"], optional=optional)
    data = {**answer.data, "npm": {"agrees": not differ, "packages": len(said.packages), "differs": differ, "problems": list(said.problems)}}
    if not differ:
        return structs.replace(answer, data=data, evidence=(*answer.evidence, f"npm ls agrees: {len(said.packages)} packages"))
    lines = [f"npm ls disagrees: {text}" for text in differ[:8]]
    status = "inconclusive" if answer.status == "refuted" else answer.status
    return structs.replace(answer, status=status, summary=f"{answer.summary}; {lines[0]}", data=data, evidence=(*answer.evidence, *lines[1:]))


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
        answer = _conflict(case, asked, several=several, data=data, evidence=evidence, modules=modules)
        if answer is not None:
            return answer
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
        return refuted(
            f"{summary}; {len(several)} {'is' if len(several) == 1 else 'are'} there in several versions: {evidence[0]}", data, evidence[1:]
        )
    return refuted(f"{summary}, each in one version", data)


def _conflict(
    case: Case,
    asked: str,
    *,
    several: Mapping[str, Mapping[str, list[str]]],
    data: dict[str, Any],
    evidence: list[str],
    modules: Mapping[str, Module],
) -> Finding | None:
    """Answer whether two versions of one package are in each other's way."""
    caller = asked
    if case.about("npm.duplicate-react"):
        asked = next((one for one in ("react", "react-dom") if one in several), "react")
    elif case.text("function").startswith("_."):
        asked = "lodash"  # `_` in the log is its object, and the package there the one that calls it
    unlisted = _unlisted(caller, asked, modules) if caller != asked else ""
    if unlisted:
        return confirmed(unlisted, data, evidence)
    name = asked if asked in several else "" if asked and asked != caller else next((one for one in several if one in SINGLE), "")
    if name:
        return confirmed(_tell(name, several[name]), data, [line for line in evidence if not line.startswith(f"{name} ")])
    found = sorted({one.version for one in modules.values() if one.name == asked})
    if found:
        return refuted(f"node_modules holds one version of {asked}: {found[0]}", data, evidence)
    return unclear(f"{asked} is not in this node_modules", data, evidence) if asked else None


def _unlisted(caller: str, name: str, modules: Mapping[str, Module]) -> str:
    """Say that a package uses another one that it does not list, or that it gets a version outside of its range."""
    for path, one in modules.items():
        if one.name != caller:
            continue
        wanted = (one.needs | one.optional | one.peers).get(name)
        got = resolve(modules, path, name)
        if got is not None and wanted is None:
            return f"{caller}@{one.version} uses {name} without listing it, and gets {got.version}, which lies at {got.path}"
        if got is not None and wanted and satisfies(got.version, wanted) is False:
            return f"{caller}@{one.version} wants {name}@{wanted}, and gets {got.version}"
    return ""


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


def _without_tree(case: Case, folder: str, top: Module, locked: Locked | None) -> Finding:
    """Answer from the lock file where nothing is installed."""
    wanted = len(top.needs)
    data: dict[str, Any] = {"folder": folder, "packages": 0}
    several = locked.several if locked is not None else {}
    if several and locked is not None:
        data["several"] = {name: [{"version": version, "wanted_by": who} for version, who in found.items()] for name, found in several.items()}
        told = [_tell(name, found) for name, found in sorted(several.items(), key=lambda item: item[0] not in SINGLE)]
        asked = case.text("package", "peer", "module", "name", "dependency")
        name = asked if asked in several else next((one for one in several if one in SINGLE), "")
        if name and case.about("npm.version-conflict", "npm.duplicate-react"):
            return confirmed(f"by {locked.file} {_tell(name, several[name])}", data, told)
        if os.path.isfile(f"{folder}/.pnp.cjs"):
            return unclear(f"yarn's Plug'n'Play installs no node_modules; by {locked.file} {told[0]}", data, told[1:])
        return confirmed(f"{folder} has no node_modules; by {locked.file} {told[0]}", data, told[1:])
    if wanted and (case.suspicion or not os.path.isfile(f"{folder}/.pnp.cjs")):
        return confirmed(f"{folder} has no node_modules, and its package.json wants {wanted} packages", data)
    return unclear(f"{folder} has no node_modules, and wants none", data)


def _tell(name: str, found: Mapping[str, list[str]]) -> str:
    parts = [
        f"{version} ({', '.join(wanted[:3]) or 'nobody asks for it'}{' and more' if len(wanted) > 3 else ''})" for version, wanted in found.items()
    ]
    return f"{name} is there {len(found)} times: {'; '.join(parts)}"
