"""`parse` finds the tracebacks of a log: in the whole of it, or in each rank's and actor's lines apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.intake.tracebacks import steps
from aifix.intake.tracebacks.expressions import HEADER_WORDS, may_matter
from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Line, Traceback

_ORIGIN = lazy_re(r"\([^()]*(?:\([^()]*\))?[^()]*pid=\d+[^)]*\)|\[pod/[^\]]+\]|(?:[A-Za-z][\w.]*-)+\d+ *[|:]|\[\d+,\d+\]")


def parse(lines: Sequence[Line]) -> list[Traceback]:
    """Find all Python tracebacks, in the order of the lines that name their exceptions."""
    if not any(may_matter(line.text) for line in lines):
        return []
    whole = steps.read(lines, range(len(lines)))
    streams = _streams(lines)
    if len(streams) > 1:
        apart = [item for stream in streams for item in steps.read(lines, stream)]
        # Ranks attributed wrongly (or line by line at random) tear tracebacks apart: take the reading that holds together.
        if _coherence(apart, lines) > _coherence(whole, lines):
            whole = apart
    return sorted(whole, key=lambda item: (item.start, item.error))


def _coherence(found: Sequence[Traceback], lines: Sequence[Line]) -> int:
    """How much a reading holds together: what has a head, code below its frames, and an end counts; what is torn, against."""
    score = 0
    for item in found:
        score += 2 if HEADER_WORDS in lines[item.start].text else -2
        score += 2 if item.kind else -2
        score += sum(1 if frame.source else -1 for frame in item.frames[:8])
    return score


def _streams(lines: Sequence[Line]) -> list[list[int]]:
    """Indices by who printed the line: the rank, else the actor, pod or container named in the prefix."""
    cache: dict[str, str] = {}
    streams: dict[object, list[int]] = {}
    for index, line in enumerate(lines):
        key: object = line.rank
        if key is None and line.prefix:
            origin = cache.get(line.prefix)
            if origin is None:
                match = _ORIGIN.search(line.prefix)
                origin = cache[line.prefix] = match[0] if match else ""
            key = origin
        streams.setdefault(key or (0 if line.rank == 0 else ""), []).append(index)
    return list(streams.values())
