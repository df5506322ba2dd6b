"""The line that names the exception, and the message that goes on below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.intake.lines import is_progress, numberless
from aifix.intake.tracebacks.expressions import CAUSE, CONTEXT, ERROR, ERROR_WORD, FRAME, GROUP_RULE, HEADER_WORDS, NEW_RECORD, WORKER, indent_of
from aifix.lazy import lazy_re
from aifix.model import Traceback

if TYPE_CHECKING:
    from aifix.intake.tracebacks.walk import Open, Walk

_MAX_LINES = 400  # of one exception's message
_NEW_ERROR = lazy_re(r"(?:[A-Za-z_]\w*\.)+[A-Z]\w*(?:Error|Exception)(?:: |:$)")
_WARNED = lazy_re(r"\S+\.py:\d+: \w+: ")


def is_error(walk: Walk, trace: Open, text: str, indent: int, base: int) -> bool:
    """Whether a line names the exception of the open traceback.

    Args:
        walk: where the line stands.
        trace: the open traceback.
        text: the line.
        indent: the line's, in columns.
        base: the frames', in columns.
    """
    match = ERROR.match(text)
    if match is None or NEW_RECORD.match(text):
        return False
    if not trace.frames and trace.header is None:
        return False
    kind = match["kind"].rpartition(".")[2]
    if ERROR_WORD.search(kind):
        return True
    if not trace.frames:
        return False
    if indent >= base > 0:
        return False
    # Right below the frames, anything named like a class is the exception.
    close = trace.last == walk.at - 1
    if match["rest"]:
        return close or (kind[:1].isupper() and "." in match["kind"])
    return close and kind[:1].isupper() and ("." in match["kind"] or len(kind) > 3)


def finish(walk: Walk, trace: Open, *, alone: bool = False) -> None:
    """Close the traceback by the exception that the line at hand names.

    Args:
        walk: where that line stands.
        trace: the open traceback.
        alone: the message ends with this line, and the line is to be read again for what else stands in it.
    """
    at = walk.at
    index = walk.order[at]
    text = walk.text(at)
    match = ERROR.match(text)
    if match is None:
        kind, message = "", text.strip()
    else:
        kind, message = match["kind"], match["rest"][2:] if match["rest"].startswith(": ") else ""
    end = at
    if not alone:
        end, more = _message(walk, at, indent_of(text), kind)
        message = "\n".join([message, *more]) if more else message
    walk.open = None
    walk.found.append(
        Traceback(
            start=trace.start,
            end=walk.order[end] + 1,
            error=index,
            kind=kind,
            message=message,
            frames=tuple(trace.frames),
            relation=trace.relation,
            rank=walk.lines[index].rank,
            quoted=frozenset(trace.quoted),
        )
    )
    walk.relation = "worker" if WORKER.search(message) else "first"
    walk.at = at if alone else end + 1


def _message(walk: Walk, at: int, indent: int, kind: str) -> tuple[int, list[str]]:
    """The lines by which a message goes on: (position of its last line, their texts)."""
    more: list[str] = []
    end = at
    shape = numberless(walk.lines[walk.order[at]].prefix)
    rank = walk.lines[walk.order[at]].rank
    blank = 0
    rules = 0
    for ahead in range(at + 1, min(at + _MAX_LINES, len(walk.order))):
        line = walk.lines[walk.order[ahead]]
        text = walk.text(ahead)
        if not text.strip():
            blank += 1
            if blank > 2:
                break
            continue
        if is_progress(text):
            continue
        own = indent_of(text)
        if numberless(line.prefix) != shape and (line.prefix or own == 0):
            break
        if rank is not None and line.rank is not None and line.rank != rank:
            break
        if own == 0 and _NEW_ERROR.match(text):
            break
        if HEADER_WORDS in text or CAUSE in text or CONTEXT in text or GROUP_RULE.match(text) or text.strip() in ('"""', "'''"):
            break
        if '"' in text and FRAME.match(text):
            break
        if NEW_RECORD.match(text) or _WARNED.match(text):
            break
        if kind and text[own:].startswith(kind + ":"):
            break
        if blank and own <= indent and not rules:
            break
        if text.startswith("====="):
            rules += 1
        more += [""] * blank
        blank = 0
        more.append(text[indent:] if text[:indent].strip() == "" else text)
        end = ahead
        if rules == 2:
            break
    return end, more
