"""Tracebacks that no signature took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.intake.tracebacks import chains
from aifix.match.ending import logged_as_warning, went_on
from aifix.match.passed import passed

if TYPE_CHECKING:
    from aifix.model import Document, Traceback

CONSEQUENCES = frozenset(
    {
        "KeyboardInterrupt", "SystemExit", "GeneratorExit", "CancelledError", "BrokenPipeError", "ConnectionResetError", "ConnectionRefusedError",
        "ConnectionAbortedError", "EOFError", "CalledProcessError", "ChildFailedError", "ProcessExitedException", "ProcessRaisedException",
        "ActorDiedError", "RayActorError", "WorkerCrashedError", "SignalException",
    }
)  # fmt: skip
"""Exceptions that end a process because something else ended: they never stand for an unknown root cause."""


def unexplained(document: Document, lines: set[int]) -> list[Traceback]:
    """Give the tracebacks that nothing explains: no part of their chain is among the lines that were hit, and the run did not survive them."""
    left: list[Traceback] = []
    green = passed(document.lines) if document.tracebacks else []
    for chain in chains(document.tracebacks):
        if any(line in lines for traceback in chain for line in range(traceback.start, traceback.end)):
            continue
        if logged_as_warning(document.lines[chain[-1].error]) and went_on(document, chain[-1].error):
            continue  # caught, told as a warning, and survived
        if any(chain[-1].error in stretch for stretch in green):
            continue  # a test wanted it
        left += [traceback for traceback in chain if traceback.kind and traceback.kind.rpartition(".")[2] not in CONSEQUENCES]
    return left
