"""The line that opens a traceback, and what stands in it: the style, the relation to the last one, the exception that is expected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aifix.intake.tracebacks import ending
from aifix.intake.tracebacks.expressions import ERROR, FRAME, NAME
from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from aifix.intake.tracebacks.walk import Open, Walk

_HEADER = lazy_re(r"\w{9} \((?:most recent|\w{4} \w{6}) (?:call|\w{4}) (?P<order>last|first|\w{4,5})\)")


def read(walk: Walk, text: str, index: int) -> bool:
    """Open a traceback if the line is the header of one, and say whether it was."""
    header = _HEADER.search(text) if "recent" in text or "(most" in text else None
    if header is None:
        return False
    before = text[: header.start()]
    if before.rstrip().endswith(('"', "'", "`")) or text[header.end() : header.end() + 1] in ('"', "'", "`"):
        return False  # quoted in code or prose
    trace = walk.open
    if header["order"] == "first":
        if "hread" in before or "Stack" in before or before.strip() == "":
            fatal = trace.fatal if trace else _fatal_before(walk)
            if trace and trace.frames:
                walk.abandon()
                walk.at += 1
                return True
            if fatal:
                trace = walk.begin(index, "fatal")
                trace.fatal = fatal
                walk.at += 1
                return True
        return False
    if "Original " in before:
        walk.abandon()
        walk.relation = "worker"
    expected = re.match(rf"({NAME})\s{{2,}}$", before)
    if expected:
        walk.abandon()
        walk.begin(index, "ipython", expected[1]).quoted.add(index)
        walk.at += 1
        return True
    if before.strip() and ERROR.match(before.rstrip()) and before.rstrip().endswith(":") and trace is not None:
        # Old torch put the worker's traceback into the message: `TypeError: Traceback (most recent call last):`
        ending.finish(walk, trace, alone=True)
        walk.relation = "worker"
    elif trace is not None and trace.style == "plain" and (not trace.frames or _twin(walk, trace)):
        trace.twins += 1
        trace.last = walk.at
        walk.at += 1
        return True
    else:
        walk.abandon()
    if "xception Group" in before:
        walk.grouped = True
    boxed = any(c in walk.lines[index].prefix for c in "╭┌┏╔")
    walk.begin(index, "rich" if boxed else "plain")
    walk.at += 1
    return True


def _fatal_before(walk: Walk) -> str:
    """The message of the interpreter's own death, a few lines above the header at hand."""
    for back in range(walk.at - 1, max(walk.at - 6, -1), -1):
        text = walk.text(back)
        if text.startswith("Fatal Python error"):
            return text.partition(": ")[2] or text
    return ""


def _twin(walk: Walk, trace: Open) -> bool:
    """Whether the header that comes now opens the same traceback again, interleaved by another process."""
    for ahead in range(walk.at + 1, min(walk.at + 7, len(walk.order))):
        match = FRAME.match(walk.text(ahead))
        if match:
            first = trace.frames[0]
            return (match["file"], int(match["line"])) == (first.file, first.line) and len(trace.frames) <= 4
    return False
