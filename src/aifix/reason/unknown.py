"""An honest answer where no rule fits: the parsed error, where it stands, and that it is unknown."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from aifix.lazy import lazy_linear, lazy_re
from aifix.match.ending import ended_well
from aifix.match.passed import passed
from aifix.match.unexplained import CONSEQUENCES
from aifix.model import Document, Evidence, Location, Traceback, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_FATAL = lazy_linear(
    r"^(?:\S+: )?(?:fatal(?: error)?|FATAL(?: ERROR)?|Fatal(?: Python)? error|panic|ERROR|Error|error)(?:\[\w+\])?: \S"
    r"|^thread '.*' (?:\(\d+\) )?panicked at|Exception in thread|^Caused by: |^[\w.]+(?:Error|Exception): "
    r"|^(?:Segmentation fault|Aborted|Bus error|Killed|Illegal instruction|Floating point exception)(?: \(core dumped\))?$"
    r"|^npm (?:ERR!|error) |^make(?:\[\d+\])?: \*\*\* |^E   \S|: error: |\): error TS\d+|^ *FAILED |^error\b.*: |\bfatal: |\b[1-9]\d* failed\b"
    r"|\[(?:emerg|alert|crit)\] |\bERROR:  |returned non-zero exit status|exited with (?:exit )?(?:code|status) [1-9]|exit (?:code|status):? [1-9]"
    r"|\[rejected\]|CONFLICT \(|\bBackOff\b|\bErrImagePull\b"
)
_NOISE = lazy_re(r"\b(?:0|no) (?:errors?|failures?|failed)\b|WARN|[Ww]arning|\bINFO\b|DEBUG", re.IGNORECASE)
SHOWN = 3


def unknown(document: Document, strangers: list[Traceback], location: Location | None = None) -> Unknown | None:
    """Describe the failure that no rule explains; None when nothing reads like one.

    Args:
        document: the cleaned input.
        strangers: tracebacks that no candidate explains.
        location: the user's frame of the one that `told_by` chooses of them.

    """
    if document.genre != "log" and not any(traceback.frames for traceback in strangers):
        return None
    if strangers:
        chosen = told_by(strangers)
        before = [] if chosen.relation == "worker" else [one.error for one in _chain(strangers) if one.error < chosen.error]
        shown = [*before, *range(chosen.error, min(chosen.end, chosen.error + SHOWN))]
        evidence = tuple(Evidence(document.lines[index].number, document.lines[index].text) for index in shown[-SHOWN:])
        ranks = tuple(sorted({traceback.rank for traceback in strangers if traceback.rank is not None}))
        return Unknown(chosen.kind, chosen.message, evidence, location, ranks)
    if any(traceback.kind and traceback.kind.rpartition(".")[2] in CONSEQUENCES for traceback in document.tracebacks):
        chosen = document.tracebacks[0]
        line = document.lines[min(chosen.error, len(document.lines) - 1)]
        return Unknown(chosen.kind, chosen.message, (Evidence(line.number, line.text),), location)
    lines = document.lines
    green = {index for stretch in passed(lines) for index in stretch}
    outside = [index for index in range(len(lines)) if index not in green]
    found = [lines[index] for index in itertools.islice(_fatal(document, outside), SHOWN)]
    if not found or ended_well(document, next(_fatal(document, reversed(outside)))):
        return None
    kind, _, message = found[0].text.partition(": ")
    return Unknown(
        kind.strip()[:80] if message else "error",
        (message or found[0].text).strip(),
        tuple(Evidence(line.number, line.text) for line in found),
    )


def _chain(strangers: Sequence[Traceback]) -> list[Traceback]:
    """Give the first of some tracebacks, and those that hang at it."""
    return [strangers[0], *itertools.takewhile(lambda one: one.relation != "first", strangers[1:])]


def told_by(strangers: Sequence[Traceback]) -> Traceback:
    """Choose the traceback that says what happened: of a chain the error that ended the run, and of a worker process its own.

    `KeyError: Caught KeyError in DataLoader worker process 0.` is how the main process passes on what the worker's traceback below it says.
    """
    chain = _chain(strangers)
    return next((one for one in reversed(chain) if one.relation == "worker"), chain[-1])


def _fatal(document: Document, indices: Iterable[int]) -> Iterator[int]:
    """Give those of some lines that say that a program has failed."""
    for index in indices:
        text = document.lines[index].text
        if len(text) < 2000 and _FATAL.search(text) and not _NOISE.search(text):
            yield index
