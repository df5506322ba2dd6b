"""Hard-wrapped lines (a terminal's width, a ticket system's) joined again."""

from __future__ import annotations

from collections.abc import Sequence

from aifix.model import Line


def join(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with those joined that were cut at one width."""
    return list(lines)
