"""What parsed tracebacks say together: which hang together, where they point, whether a program printed them."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from aifix.intake.tracebacks.owner import foremost
from aifix.model import Location, Traceback

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Line


def location(traceback: Traceback | Sequence[Traceback]) -> Location | None:
    """The innermost frame of the user's own code, else the innermost frame, of a traceback or of a chain of them.

    Of a chain, the failing member counts first: the last one, or where a worker's original traceback hangs below it, that.
    """
    chain = [traceback] if isinstance(traceback, Traceback) else list(traceback)
    ordered = [t for t in reversed(chain) if t.relation == "worker"] + [t for t in reversed(chain) if t.relation != "worker"]
    frame = foremost([frame for item in ordered for frame in reversed(item.frames)])
    return Location(frame.file, frame.line, frame.function, frame.source) if frame is not None else None


def uttered(lines: Sequence[Line], tracebacks: Sequence[Traceback]) -> bool:
    """Whether a complete traceback stands there as a program prints it: neither indented nor inside a code fence."""
    fences = [index for index, line in enumerate(lines) if line.text.startswith(("```", "~~~"))]
    return any(item.kind and item.frames and lines[item.error].text[:1].isalpha() and bisect_left(fences, item.error) % 2 == 0 for item in tracebacks)


def chains(tracebacks: Sequence[Traceback]) -> list[list[Traceback]]:
    """Group tracebacks that hang together, in order."""
    out: list[list[Traceback]] = []
    for item in tracebacks:
        if out and item.relation != "first" and (item.rank is None or out[-1][-1].rank in (None, item.rank)):
            out[-1].append(item)
        else:
            out.append([item])
    return out
