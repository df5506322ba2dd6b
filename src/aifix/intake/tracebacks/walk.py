"""The place in the lines of one stream, the traceback that is open there, and those that are finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.lazy import lazy_re
from aifix.model import Frame, Traceback

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Line, Relation

MAX_NOISE = 60
"""Foreign lines tolerated between two frames: other ranks, progress bars, log lines."""
_MAX_FRAMES = 2000
_GROUP_MARGIN = lazy_re(r" *(?:\+ (?=Exception)|(?:\| ?)+)")


class Open:
    """A traceback that is being read."""

    __slots__ = (
        *("start", "header", "relation", "style", "expected", "frames", "quoted", "twins", "indent"),
        *("noise", "number", "last", "pending", "fatal"),
    )

    def __init__(self, start: int, header: int | None, relation: Relation, *, style: str, expected: str, last: int) -> None:
        self.start = start
        self.header = header
        self.relation = relation
        self.style = style  # plain, ipython, rich, fatal
        self.expected = expected  # IPython names the exception in its header
        self.frames: list[Frame] = []
        self.quoted: set[int] = set()
        self.twins = 1  # processes that print the same traceback into one another
        self.indent: int | None = None
        self.noise = 0
        self.number = 0  # of the input line that gave the last frame
        self.last = last
        self.pending: Frame | None = None
        self.fatal = ""


class Walk:
    """One pass over the lines of one stream."""

    def __init__(self, lines: Sequence[Line], order: Sequence[int]) -> None:
        self.lines = lines
        self.order = order
        self.at = 0
        self.found: list[Traceback] = []
        self.open: Open | None = None
        self.relation: Relation = "first"
        self.grouped = False

    def text(self, at: int) -> str:
        """The line at a position, without the margin of an exception group."""
        text = self.lines[self.order[at]].text
        if self.grouped:
            match = _GROUP_MARGIN.match(text)
            if match:
                return " " * (match.end() if text[: match.end()].strip() == "" else 0) + text[match.end() :]
        return text

    def begin(self, header: int | None, style: str = "plain", expected: str = "") -> Open:
        """Open a traceback at the line at hand."""
        index = self.order[self.at]
        self.open = Open(index, header, self.relation, style=style, expected=expected, last=self.at)
        self.relation = "first"
        return self.open

    def abandon(self) -> None:
        """Give up on the open traceback: its exception was never printed."""
        trace, self.open = self.open, None
        if trace is None or not trace.frames:
            return
        end = self.order[trace.last] + 1
        self.found.append(
            Traceback(
                start=trace.start,
                end=end,
                error=trace.start,
                kind="Fatal Python error" if trace.fatal else "",
                message=trace.fatal,
                frames=tuple(reversed(trace.frames)) if trace.style == "fatal" else tuple(trace.frames),
                relation=trace.relation,
                rank=self.lines[trace.start].rank,
                quoted=frozenset(trace.quoted),
            )
        )

    def add_frame(self, trace: Open, frame: Frame) -> None:
        """Add the frame that the line at hand shows, unless it stands there already."""
        number = self.lines[self.order[self.at]].number
        if trace.frames and trace.number == number and (trace.frames[-1].file, trace.frames[-1].line) == (frame.file, frame.line):
            pass  # the cut part behind a line that was joined in doubt
        elif trace.twins > 1 and any(
            (f.file, f.line, f.function) == (frame.file, frame.line, frame.function) for f in trace.frames[-2 * trace.twins :]
        ):
            trace.pending = None  # the same frame of another process that prints into the same log
        elif len(trace.frames) < _MAX_FRAMES:
            trace.frames.append(frame)
            trace.pending = frame
            trace.number = number
        trace.noise = 0
        trace.last = self.at

    def add_source(self, trace: Open, source: str) -> None:
        """Give the last frame its line of code."""
        if trace.pending is not None and trace.frames and source:
            old = trace.frames[-1]
            trace.frames[-1] = Frame(old.file, old.line, old.function, source, old.user)
            trace.pending = None

    def quote(self, trace: Open) -> None:
        """Count the line at hand among those that show code, and step on."""
        trace.quoted.add(self.order[self.at])
        trace.last = self.at
        self.at += 1

    def stray(self, trace: Open) -> None:
        """Step over a line that belongs to something else; after too many of them, the traceback is given up."""
        trace.noise += 1
        if trace.noise > MAX_NOISE:
            self.abandon()
        else:
            self.at += 1
