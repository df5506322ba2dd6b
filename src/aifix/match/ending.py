"""How a run ended, and whether it went on after a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from aifix.model import Document, Line

END = 5
"""Lines at the end of a log that tell how the run ended."""
AFTER = 2
"""Lines that must follow a failure for the run to have gone on."""
_WELL = lazy_re(
    r"(?i)\b(?:done|finished|completed?|saved|written|success(?:ful(?:ly)?)?|all (?:checks|tests) passed|best (?:model|epoch|acc)|listening on|"
    r"serving|ready|100 ?%|\d+ passed)(?:\b|\W)|(?:exit(?:ed)?|return) (?:with )?(?:return )?(?:code |status )?0\b"
)
_ILL = lazy_re(r"(?i)error|exception|fail|abort|kill|fatal|traceback|cannot|exit(?:ed)? (?:with )?(?:code |status )?[1-9]")
_NONE = lazy_re(
    r"(?i)\b(?:without|no|0|zero)(?: any)? (?:errors?|failures?|exceptions?|failed)\b|\b(?:errors?|failures?|failed)[ =:_-]{1,3}(?:0|none)\b"
)
_PASSED = lazy_re(r"::\S+.*\b(?:PASSED|XFAIL|XPASS|SKIPPED)\b")
"""A test that did what it should: its name may speak of errors."""
_WARNS = lazy_re(r"\bWARN(?:ING)?\b|(?:^|[\s\]\[])W\d{4} \d\d:\d\d")
_STOPS = lazy_re(r"(?i)shut(?:ting)? ?down|terminat|\bexiting\b|\bstopp(?:ed|ing)\b")
_AGAIN = lazy_re(
    r"(?i)(?<!/)\bretr(?:y|ies|ying|ied)\b(?!\.\w)|try(?:ing)? (?:again|another|other|the next|next|port)\b|\bfall(?:s|ing)? back\b|"
    r"recover|skipp(?:ed|ing)\b|continu(?:e|es|ing)\b|"
    r"reduc(?:ed|ing)|halv(?:ed|ing)|resum(?:e|ed|ing)\b|\b(?:previous|earlier|last|first) (?:attempt|try|run)\b"
)
_TAKEN_UP = lazy_re(
    r"(?i)\bresum(?:e|ed|es|ing)\b.{0,60}\b(?:from|at|train|step|epoch|check|ckpt)"
    r"|\b(?:found|restor(?:ed|ing)|load(?:ed|ing)) .{0,60}(?:checkpoint|ckpt).{0,60}\bresum"
    r"|\brestor(?:ed|ing)\b.{0,60}\b(?:checkpoint|ckpt|model|state|optimi[sz]er)\b"
)
_ALL_DONE = lazy_re(r"(?i)\b(?:0|no) (?:failed|failures?|errors?)\b|\b(?:failed|failures?|errors?)[ =:]{1,3}(?:0|none)\b")


def ended_well(document: Document, index: int) -> bool:
    """Tell whether the run visibly went on after a line and ended well: its last lines say so, and nothing else.

    Args:
        document: the cleaned log.
        index: the last line that speaks of a failure.
    """
    after = [line.text for line in document.lines[index + 1 :] if line.text.strip()]
    last = [_NONE.sub("", text) for text in after[-END:] if not _PASSED.search(text)]
    enough = len(after) >= AFTER or any(_ALL_DONE.search(text) for text in after)  # a summary that counts failures is enough
    return enough and any(_WELL.search(text) for text in last) and not any(_ILL.search(text) for text in last)


def went_on(document: Document, index: int) -> bool:
    """Tell whether a run that logged a warning went on: more was printed, and its last lines speak of no trouble and no end.

    Args:
        document: the cleaned log.
        index: a line that was logged as a warning.
    """
    after = [line for line in document.lines[index + 1 :] if line.text.strip() and not logged_as_warning(line)]
    last = [_NONE.sub("", line.text) for line in after[-END:] if not _PASSED.search(line.text)]
    return len(after) >= AFTER and not any(_ILL.search(text) or _STOPS.search(text) for text in last)


def taken_up(document: Document, index: int) -> bool:
    """Tell whether a run took up its work again after a line, from what it had saved.

    Args:
        document: the cleaned log.
        index: a line that tells why it stopped.
    """
    return any(_TAKEN_UP.search(line.text) for line in document.lines[index + 1 :])


def logged_as_warning(line: Line) -> bool:
    """Tell whether the logger put the level of a warning before a line: what is fatal, nobody logs so."""
    return bool(line.prefix) and _WARNS.search(line.prefix) is not None


def tried_again(document: Document, index: int) -> bool:
    """Tell whether the program says beside a failure that it tries again or goes on without."""
    return any(_AGAIN.search(line.text) for line in document.lines[max(0, index - 2) : index + 4])
