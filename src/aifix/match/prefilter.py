"""Which literal cores stand on which lines: plain search in small texts, Hyperscan in large ones."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

from aifix.match import scan
from aifix.match.grams import grams

SMALL = 192 * 1024
"""Characters up to which a plain search for every core is quicker than loading an engine."""
PER_CORE = 4000
"""Lines kept for one core; further ones are not looked at."""


def lines_by_core(texts: Sequence[str], cores: Sequence[str], keys: Sequence[str]) -> dict[int, list[int]]:
    """Find the lines that hold each core.

    Args:
        texts: the lines.
        cores: literals, each led by 's' (exact case) or 'i' (lower-cased, any case).
        keys: each core's key (see `grams`).

    Returns:
        For each core found, by its index, the indices of its lines in order.

    """
    joined = "\n".join(texts)
    starts: list[int] = []
    at = 0
    for text in texts:
        starts.append(at)
        at += len(text) + 1
    if len(joined) > SMALL:
        found = _hyperscan(joined, cores)
        if found is not None:
            return _to_lines(found, joined, cores)
    result: dict[int, list[int]] = {}
    lowered: str | None = None
    pieces = grams(joined)
    for index, key in enumerate(keys):
        if key and key not in pieces:
            continue
        core = cores[index]
        if core[0] == "i":
            if lowered is None:
                lowered = _lower(joined)
            haystack = lowered
        else:
            haystack = joined
        needle = core[1:]
        position = haystack.find(needle)
        if position < 0:
            continue
        lines: list[int] = []
        while position >= 0 and len(lines) < PER_CORE:
            line = bisect.bisect_right(starts, position) - 1
            lines.append(line)
            position = haystack.find(needle, starts[line + 1]) if line + 1 < len(starts) else -1
        result[index] = lines
    return result


def _lower(text: str) -> str:
    """Lower-case without changing any length (a few letters lower to two characters)."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _hyperscan(joined: str, cores: Sequence[str]) -> tuple[bytes, dict[int, list[int]]] | None:
    engine = scan.database([core.encode() for core in cores], single=False)
    if engine is None:
        return None
    data = joined.encode("utf-8", "replace")
    ends: dict[int, list[int]] = {}

    def on_match(core: int, _start: int, end: int, _flags: int, _context: object) -> None:
        listed = ends.setdefault(core, [])
        if len(listed) < PER_CORE:
            listed.append(end)

    engine.scan(data, match_event_handler=on_match)
    ends.pop(len(cores), None)
    return data, ends


def _to_lines(found: tuple[bytes, dict[int, list[int]]], _joined: str, _cores: Sequence[str]) -> dict[int, list[int]]:
    data, ends = found
    newlines: list[int] = []
    position = data.find(b"\n")
    while position >= 0:
        newlines.append(position)
        position = data.find(b"\n", position + 1)
    return {core: sorted({bisect.bisect_left(newlines, end - 1) for end in listed}) for core, listed in ends.items()}
