"""What `aifix fix` proposes for one fix of one log: its patch, and what remains to be copied by hand."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from aifix.fixes import backup, command_line, source
from aifix.fixes.patch import Change, Patch, Refused, make

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Action, Diagnosis, Document, Fix
    from aifix.rulebase.base import Base


class Proposal(NamedTuple):
    """A fix, ready to be shown: its patch or why there is none, what else there is to do, and what speaks against applying the patch."""

    fix: Fix
    patch: Patch | None
    refusal: str
    actions: tuple[Action, ...]
    stale: str


def propose(
    document: Document, diagnosis: Diagnosis, fix: Fix, base: Base, *, files: Sequence[str] = (), folders: Sequence[str] = (), log: str = ""
) -> Proposal:
    """Make the proposal.

    Args:
        document: the log.
        diagnosis: the one that the fix belongs to.
        fix: the fix as the report ranks it.
        base: the rules, which name the patches.
        files: sources that the user named, before those of the log.
        folders: where relative names may start.
        log: the log's path, whose age tells which sources have changed since; empty when it came through a pipe.

    """
    names = patches_of(base, diagnosis.id, fix.id)
    actions = tuple(action for action in fix.do if action.kind != "patch")
    if not names:
        return Proposal(fix, None, "", actions, "")
    try:
        sources = sources_of(document, diagnosis, files, folders)
        patch, refusal = None, ""
        reasons = []
        for name in names:  # alternatives: the first that applies
            try:
                patch = make(name, sources, diagnosis.facts)
                break
            except Refused as reason:
                reasons.append(str(reason))
        refusal = "" if patch else "; ".join(dict.fromkeys(reasons))
    except Refused as reason:
        return Proposal(fix, None, str(reason), actions, "")
    if patch is None:
        return Proposal(fix, None, refusal, actions, "")
    return Proposal(fix, patch, "", tuple(action for action in actions if action.kind != "code"), stale(patch.changes, log))


def patches_of(base: Base, rule: str, fix: str) -> list[str]:
    """Name the patches of a rule's fix."""
    if rule not in base:
        return []
    return [action.text for template in base[rule].fixes if template.id == fix for action in template.do if action.kind == "patch"]


def sources_of(document: Document, diagnosis: Diagnosis, files: Sequence[str], folders: Sequence[str]) -> list[source.SourceFile]:
    """Give the files that a patch may change: the named ones; else those of the tracebacks and the script that was called.

    Raises:
        Refused: a named file cannot be read.

    """
    proof = {item.line for item in diagnosis.evidence}
    at = [index for index, line in enumerate(document.lines) if line.number in proof]
    found = source.find(document, at, folders)
    if files:
        known = {item.path: item for item in found}
        chosen = []
        for name in files:
            item = source.read(name, folders)
            if item is None:
                raise Refused(f"{name} cannot be read")
            chosen.append(known.get(item.path, item))
        return chosen
    script = command_line.read(document).script
    if script and all(os.path.basename(item.path) != os.path.basename(script) for item in found):
        item = source.read(script, folders)
        found += [item] if item is not None else []
    return found


def stale(changes: Sequence[Change], log: str) -> str:
    """Say which file was saved after the log was made, unless it was aifix that wrote it; empty when none was."""
    for change in changes:
        path = os.path.abspath(change.path)
        fresh = source.newer(os.stat(path).st_mtime, log)
        if fresh and not backup.written_by_us(path, source.digest_of(change.before.encode())):
            return f"{change.path} was saved after {log} was made"
    return ""
