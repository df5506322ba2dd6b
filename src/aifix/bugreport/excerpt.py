"""The lines of a log that a reader of the issue needs: the proof, its tracebacks, how it began and ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aifix.model import Document, Report

AROUND = 3
"""Lines on both sides of one that proves something."""
BEGINNING, ENDING = 4, 6
"""Lines of the log's beginning (how it was called) and end."""
TRACEBACK = 60
"""Lines of a traceback; of a longer one the middle is left out."""
MOST = 160
"""Lines in all."""
WIDEST = 600
"""Characters of a line."""


def excerpt(document: Document, report: Report) -> str:
    """Give the lines, with a note wherever some are left out."""
    total = len(document.lines)
    chosen: set[int] = set()
    proof = [item.line for one in report.diagnoses for item in one.evidence] + [
        item.line for item in (report.unknown.evidence if report.unknown else ())
    ]
    wanted = set(proof)
    at = [index for index, line in enumerate(document.lines) if line.number in wanted]
    for kind in (
        at,
        _tracebacks(document, at),
        (near for index in at for near in range(index - AROUND, index + AROUND + 1)),
        range(BEGINNING),
        range(total - ENDING, total),
    ):
        for index in kind:
            if len(chosen) < MOST and 0 <= index < total:
                chosen.add(index)
    return "\n".join(_lines(document, sorted(chosen)))


def _tracebacks(document: Document, at: Iterable[int]) -> Iterable[int]:
    """Give the lines of the tracebacks around the proof, head and tail of long ones."""
    lines = set(at)
    for traceback in document.tracebacks:
        if lines.isdisjoint(range(traceback.start, traceback.end)):
            continue
        if traceback.end - traceback.start <= TRACEBACK:
            yield from range(traceback.start, traceback.end)
        else:
            yield from range(traceback.start, traceback.start + TRACEBACK // 3)
            yield from range(traceback.end - 2 * TRACEBACK // 3, traceback.end)


def _lines(document: Document, chosen: list[int]) -> Iterable[str]:
    before = -1
    for index in chosen:
        line = document.lines[index]
        if index > before + 1:
            first, last = document.lines[before + 1].number, document.lines[index - 1].number
            yield f"[... {_span(first, last)} left out ...]"
        text = f"{line.prefix}{line.text}" if line.prefix else line.text
        yield text if len(text) <= WIDEST else text[:WIDEST] + " [... cut]"
        before = index
    if chosen and chosen[-1] < len(document.lines) - 1:
        yield f"[... {_span(document.lines[chosen[-1] + 1].number, document.lines[-1].number)} left out ...]"


def _span(first: int, last: int) -> str:
    return f"line {first:,}" if first == last else f"lines {first:,} to {last:,}"
