"""The lines of a traceback in the box that rich draws around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.intake.tracebacks import ending
from aifix.intake.tracebacks.owner import is_user
from aifix.lazy import lazy_re
from aifix.model import Frame

if TYPE_CHECKING:
    from aifix.intake.tracebacks.walk import Open, Walk

_FRAME = lazy_re(r"(?P<file>(?:[/~]|[A-Za-z]:\\|<|\w)[^\n\"]{0,500}?):(?P<line>\d{1,7}) in (?P<function>[\w<>.]{1,200})\s*$")
_ARROW = lazy_re(r" *[❱>] *(\d{1,7}) ?[│|]?(.*)$")


def read(walk: Walk, trace: Open, text: str) -> None:
    """Read one line: a frame, its source, or the box's end and the exception below it."""
    prefix = walk.lines[walk.order[walk.at]].prefix
    if any(c in prefix for c in "│┃║"):
        frame = _FRAME.match(text)
        if frame is None and text.startswith(("/", "~")) and " " not in text.strip() and walk.at + 1 < len(walk.order):
            joined = text.strip() + walk.text(walk.at + 1).strip()
            frame = _FRAME.match(joined)
            if frame:
                walk.quote(trace)
        if frame:
            file = frame["file"]
            walk.add_frame(trace, Frame(file, int(frame["line"]), frame["function"], "", is_user(file)))
        else:
            arrow = _ARROW.match(text)
            if arrow:
                walk.add_source(trace, arrow[2].strip(" │|"))
        walk.quote(trace)
        return
    if any(c in prefix for c in "╰└┗╚"):
        walk.quote(trace)
        return
    if text.strip() and ending.is_error(walk, trace, text, 0, 2):
        ending.finish(walk, trace)
        return
    if text.strip():
        walk.stray(trace)
    else:
        walk.at += 1
