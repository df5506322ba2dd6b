"""How far a run had come, as its lines tell: an epoch, a step, a batch, with how many there are where that is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aifix.model import Line

_LONGEST = 4000
"""Characters from which on a line is no line of progress."""


def _counted(between: str) -> str:
    """Give the expression for a number and what follows it: the total behind one of some characters, and the step within an epoch."""
    total = rf"(?:\]?\s?[{between}]\s*\[?\d+)?\]?(?:\[\s*\d+\s?/\s?\d+\])?"
    return rf"\W{{0,3}}\[?\d+(?:\.\d+\b)?{total}(?:,?\s(?:step|iter(?:ation)?|batch)\W{{0,3}}\d+(?:/\d+)?)?"


_ANYWHERE = lazy_re(rf"(?i)\b(?:epoch|step|iter(?:ation)?|global_step)\b{_counted('/,|')}")
_OF_A_LOOP = lazy_re(rf"(?i)Train: \d+ \[ *\d+/\d+|(?:epoch|step|iter(?:ation)?|batch|update|it)s?{_counted('/,|-')}")
"""On lines that are known to be a training loop's, where shorter words are enough."""


def of_line(text: str) -> str:
    """Give the place in the run that a line of any kind tells; empty where it tells none."""
    found = _ANYWHERE.search(text)
    return _paired(found[0]) if found else ""


def last_step(lines: Sequence[Line], index: int, tells: Callable[[str], bool]) -> str:
    """Give the step that was printed last, on a line that may tell one; empty where none was.

    Args:
        lines: all lines.
        index: where to begin to look, backwards.
        tells: whether a line is one of the loop's.
    """
    for at in range(index, -1, -1):
        text = lines[at].text
        found = _OF_A_LOOP.search(text) if len(text) <= _LONGEST and tells(text) else None
        if found:
            return _paired(found[0].strip())
    return ""


def _paired(text: str) -> str:
    """Drop a closing bracket whose opening one was not taken."""
    return text[:-1] if text.endswith("]") and text.count("[") < text.count("]") else text
