"""One step of the machine: what the line at hand is, and which reader takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.intake.lines import is_progress
from aifix.intake.tracebacks import boxed, ending, heads, ipython, plain
from aifix.intake.tracebacks.expressions import CAUSE, CONTEXT, ERROR, ERROR_WORD, FRAME, GROUP_RULE, WORKER, may_matter
from aifix.intake.tracebacks.owner import is_user
from aifix.intake.tracebacks.walk import Walk
from aifix.model import Frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Line, Traceback


def read(lines: Sequence[Line], order: Sequence[int]) -> list[Traceback]:
    """Find the tracebacks of one stream.

    Args:
        lines: the whole log's lines.
        order: indices of the stream's lines among them.
    """
    walk = Walk(lines, order)
    while walk.at < len(order):
        _step(walk)
    walk.abandon()
    return walk.found


def _step(walk: Walk) -> None:
    text = walk.text(walk.at)
    index = walk.order[walk.at]
    if walk.open is None and not _worth(walk, text):
        _idle(walk, text)
        walk.at += 1
        return
    if heads.read(walk, text, index):
        return
    match = FRAME.match(text) if '"' in text else None
    if match:
        trace = walk.open
        if trace is None or trace.style in ("ipython", "rich"):
            walk.abandon()
            trace = walk.begin(None)
        trace.quoted.add(index)
        margin = len(match["margin"].expandtabs(4))
        trace.indent = margin if trace.indent is None else min(trace.indent, margin)
        file = match["file"]
        walk.add_frame(trace, Frame(file, int(match["line"]), (match["function"] or "").strip(), "", is_user(file, match["function"] or "")))
        walk.at += 1
        return
    if walk.open is None:
        if ipython.opens(walk, text):
            ipython.read(walk, walk.begin(None, "ipython"), text)
            return
        _idle(walk, text)
        walk.at += 1
        return
    if walk.open.style == "ipython":
        ipython.read(walk, walk.open, text)
    elif walk.open.style == "rich":
        boxed.read(walk, walk.open, text)
    else:
        plain.read(walk, walk.open, text)


def _worth(walk: Walk, text: str) -> bool:
    return may_matter(text) or (walk.grouped and bool(text)) or " in " in text


def _idle(walk: Walk, text: str) -> None:
    """Between tracebacks: note how the next one hangs with the last."""
    if not text:
        return
    if walk.grouped and _grouping(walk, text):
        return
    if CAUSE in text:
        walk.relation = "cause"
    elif CONTEXT in text:
        walk.relation = "context"
    elif WORKER.search(text) and walk.found:
        walk.relation = "worker"
    elif walk.relation != "first" and text.strip() not in ("", '"""', "'''") and not is_progress(text):
        walk.relation = "first"


def _grouping(walk: Walk, text: str) -> bool:
    """Inside an exception group: the rules between its members, and members that have no traceback of their own."""
    if GROUP_RULE.match(text):
        walk.relation = "worker"
        return True
    match = ERROR.match(text)
    if walk.relation == "worker" and match and ERROR_WORD.search(match["kind"].rpartition(".")[2]):
        ending.finish(walk, walk.begin(None))
        walk.at -= 1  # the caller steps on
        return True
    if not any(c in walk.lines[walk.order[walk.at]].text[:12] for c in "|+"):
        walk.grouped = False
    return False
