"""The run that failed before: read from its log, or remembered by the history."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aifix.model import Fact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aifix.kb.nouns import Incident
    from aifix.model import Document, Report

COMMANDS = frozenset({"pipe", "run"})
LOOKED_AT = 50
"""Incidents among which the last one with a command is looked for."""


class NotRemembered(Exception):  # noqa: N818 - it is an answer, and its text is the sentence for the person
    """The history has no command that can be run again."""


@dataclass(frozen=True)
class First:
    """What is known of the run that failed before."""

    ids: tuple[str, ...] = ()
    """Of its root causes, the likeliest first; none where no rule knew it."""
    title: str = ""
    place: str = ""
    lines: tuple[str, ...] = ()
    """What it printed, as far as that is known."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    origin: str = ""
    """Where this is known from, in words; empty for a log."""


@dataclass(frozen=True)
class Remembered:
    """A command of the history that can be run again, and how it failed."""

    command: tuple[str, ...]
    folder: str
    first: First


def of_report(report: Report, document: Document | None = None) -> First:
    """Read it off a report and, where it is there, the cleaned log."""
    roots = [one for one in report.diagnoses if not one.caused_by]
    lines = [line.text for line in document.lines] if document is not None else [item.text for one in report.diagnoses for item in one.evidence]
    if not roots:
        return First(title=report.unknown.kind if report.unknown is not None else "", lines=tuple(lines))
    place = roots[0].location
    where = f"{place.file}:{place.line}" if place is not None else ""
    return First(tuple(one.id for one in roots), roots[0].title, where, tuple(lines), roots[0].facts)


def of_incident(incident: Incident) -> First:
    """Read it off the history."""
    from aifix.kb.nouns import UNKNOWN

    facts = {name: Fact(fact.text, fact.value, fact.unit) for name, fact in incident.facts.items()}
    ids = () if incident.diagnosis == UNKNOWN else (incident.diagnosis,)
    return First(
        ids, incident.title, incident.location, tuple(item.text for item in incident.evidence), facts, f"failure {incident.number} of the history"
    )


def last(path: str = "") -> Remembered:
    """Give the last failed command of the history.

    Args:
        path: the file of the history; the user's own by default.

    Raises:
        NotRemembered: there is none, or it cannot be run again as it was.

    """
    from aifix.kb import incidents
    from aifix.kb.memory import switched_off
    from aifix.kb.store import StoreError, open_for_reading

    if switched_off():
        raise NotRemembered("the history is switched off (AIFIX_NO_HISTORY)")
    try:
        store = open_for_reading(path)
        if store is None:
            raise NotRemembered("the history is empty")
        with store:
            found = next((one for one in incidents.recent(store, LOOKED_AT) if one.command and one.origin == "here" and one.how in COMMANDS), None)
            incident = incidents.get(store, found.number) if found is not None else None
    except StoreError as error:
        raise NotRemembered(str(error)) from None
    if incident is None:
        raise NotRemembered("the history holds no failed command")
    return _runnable(incident)


def _runnable(incident: Incident) -> Remembered:
    from aifix.kb.keys import command_key

    try:
        command = tuple(shlex.split(incident.command))
    except ValueError:
        command = ()
    # the history keeps no secrets: what it holds is the command itself only where its key is the same
    if not command or command_key(command, incident.folder) != incident.command_key:
        raise NotRemembered(f"the command of failure {incident.number} is not kept whole (it held a secret, or is very long)")
    if not os.path.isdir(incident.folder):
        raise NotRemembered(f"the folder of failure {incident.number} is gone: {incident.folder}")
    return Remembered(command, incident.folder, of_incident(incident))


def of_command(command: Sequence[str], folder: str, path: str = "") -> First | None:
    """Give how a command failed last, where the history knows it; None where it does not, or cannot be read."""
    from aifix.kb import incidents
    from aifix.kb.keys import command_key
    from aifix.kb.memory import switched_off
    from aifix.kb.store import StoreError, open_for_reading

    try:
        store = None if switched_off() else open_for_reading(path)
        if store is None:
            return None
        with store:
            found = incidents.pending(store, command_key(tuple(command), folder))
    except StoreError:
        return None
    return of_incident(found[0]) if found else None
