"""The lines of a traceback as the interpreter prints it, below its frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.intake.lines import is_progress
from aifix.intake.tracebacks import ending
from aifix.intake.tracebacks.expressions import ELIDED, indent_of
from aifix.intake.tracebacks.walk import MAX_NOISE
from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from aifix.intake.tracebacks.walk import Open, Walk

_CARETS = lazy_re(r"[ \t|]*[~^][~^ ]*$")
_REPEATED = lazy_re(r"[ \t|]*\[\w+ line repeated (\d+) more times?\]")


def read(walk: Walk, trace: Open, text: str) -> None:
    """Read one line below a frame, or between two."""
    stripped = text.strip()
    if not stripped:
        trace.noise += 1
        if (trace.style == "fatal" and trace.frames) or trace.noise > MAX_NOISE:
            walk.abandon()
        walk.at += 1
        return
    indent = indent_of(text.expandtabs(4))
    base = trace.indent if trace.indent is not None else 2
    if _CARETS.match(text) or ELIDED.match(text) or _REPEATED.match(text):
        walk.quote(trace)
        return
    if indent > base:
        walk.add_source(trace, stripped)
        walk.quote(trace)
        return
    if trace.style != "fatal" and indent <= base and ending.is_error(walk, trace, text, indent, base):
        ending.finish(walk, trace)
        return
    if is_progress(text):
        walk.at += 1
        return
    trace.noise += 1
    if trace.noise > MAX_NOISE or (trace.header is None and trace.noise > 8) or trace.style == "fatal":
        walk.abandon()
        return
    walk.at += 1
