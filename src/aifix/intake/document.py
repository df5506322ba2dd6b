"""The way in: `read` turns the bytes of an input into a `Document`."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from aifix.intake import enclosed, prefixes, rich, tracebacks, wrap
from aifix.intake import lines as cleaning
from aifix.model import Document, Genre, Line, Traceback

if TYPE_CHECKING:
    from collections.abc import Sequence


def read(data: bytes | Sequence[tuple[int, bytes]], source: str = "-", genre: Genre | None = None) -> Document:
    """Read a whole input, or blocks of it as (number of the first line, bytes) where a big one was thinned out."""
    blocks = [(1, data)] if isinstance(data, bytes) else list(data)
    raw: list[Line] = []
    starts: list[int] = []  # the first line number after each gap
    end = 1
    for first, block in blocks:
        if first != end:
            starts.append(first)
        raw += cleaning.printable(block, first)
        end = max(end, first + block.count(b"\n") + (bool(block) and not block.endswith(b"\n")))
    lines = prefixes.strip(rich.join(cleaning.fold(wrap.join(enclosed.unwrap(raw, cleaning.without_controls)))))
    found = _parse(lines, starts)
    kind = genre if genre is not None else _genre(lines, found)
    return Document(
        lines=tuple(lines),
        tracebacks=tuple(found),
        genre=kind,
        source=source,
        total_lines=end - 1,
        truncated=bool(starts),
    )


def _genre(lines: list[Line], found: list[Traceback]) -> Genre:
    if tracebacks.uttered(lines, found):
        return "log"
    from aifix.intake.genre import classify  # late: its expressions cost 8 ms, and most failures show a traceback

    return classify(lines, found)


def _parse(lines: list[Line], starts: list[int]) -> list[Traceback]:
    """Parse each stretch between gaps apart: what was left out may have ended the traceback."""
    if not starts:
        return tracebacks.parse(lines)
    numbers = [line.number for line in lines]
    cuts = [0, *(bisect_right(numbers, start - 1) for start in starts), len(lines)]
    found: list[Traceback] = []
    for low, high in pairwise(cuts):
        found += (_shifted(item, low) for item in tracebacks.parse(lines[low:high]))
    return found


def _shifted(item: Traceback, by: int) -> Traceback:
    return msgspec.structs.replace(
        item,
        start=item.start + by,
        end=item.end + by,
        error=item.error + by,
        quoted=frozenset(index + by for index in item.quoted),
    )
