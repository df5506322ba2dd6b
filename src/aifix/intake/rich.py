"""What the library rich wrapped at words, joined again: records of its log handler, and the message below its traceback's box.

Rich breaks a line where the next word would not have fit, and its columns tell the width. So a line that goes on is told from one that the
program itself ended, and nothing is joined that would have fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.lazy import lazy_re
from aifix.model import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD = lazy_re(r"(?P<time>\[[^\[\]]{4,40}\]|[ ]{5,42}) (?P<level>(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)[ ]{0,4}) (?=\S)")
"""A record: its time (blank where it is that of the record above), its level in eight characters, its message."""
_LEVEL = 8
_PLACE = lazy_re(r"[ ]+(?P<place>[\w<>.-]{1,60}:\d{1,6})[ ]*$")
"""Where it was logged, at the right edge of a record's first line."""
_CLOSED = lazy_re(r"(?P<lead>.{0,200}?)(?P<rule>╰─{20,400}╯)\s*$")
"""The lower edge of a traceback's box: the message below it is as wide."""
_MOST = 400
"""Lines of one record."""


def join(lines: Sequence[Line]) -> list[Line]:
    """Join what rich wrapped; without its records and boxes the lines are given back as they are."""
    if not any(line.text.endswith("╯") or _HEAD.match(line.text) for line in lines):
        return list(lines)
    out: list[Line] = []
    column = 0
    at = 0
    while at < len(lines):
        line = lines[at]
        found = _HEAD.match(line.text)
        if found is not None and len(found["level"]) == _LEVEL and (found["time"].strip() or found.end() == column):
            column = found.end()
            at = _record(lines, at, column, out)
            continue
        out.append(line)
        at += 1
        closed = _CLOSED.match(line.text)
        if closed is not None:
            at = _message(lines, at, closed["lead"], len(closed["rule"]), out)
    return out


def _record(lines: Sequence[Line], at: int, column: int, out: list[Line]) -> int:
    """Take a record of the log handler, and give where the next one begins."""
    head = lines[at].text
    place = _PLACE.search(head, column)
    width = place.start("place") - 1 - column if place is not None else 0
    message = head[column : place.start() if place is not None else None].rstrip()
    lead = head[:column].lstrip(" ")
    number = lines[at].number
    at += 1
    last = at + _MOST
    piece = message
    while at < min(len(lines), last) and lines[at].text[:column].strip() == "" and lines[at].text[column:].strip():
        following = lines[at].text[column:].rstrip()
        if _goes_on(piece, following, width):
            message += _between(piece, width) + following
        else:  # the program's own next line
            out.append(Line(number, lead + message))
            lead, message, number = "", following, lines[at].number
        piece = following
        at += 1
    out.append(Line(number, lead + message))
    return at


def _message(lines: Sequence[Line], at: int, lead: str, width: int, out: list[Line]) -> int:
    """Take the message below a box, and give where it ends."""
    if at >= len(lines) or not lines[at].text.startswith(lead) or not lines[at].text[len(lead) :].strip():
        return at
    piece = lines[at].text[len(lead) :].rstrip()
    message = piece
    number = lines[at].number
    at += 1
    while at < len(lines) and lines[at].text.startswith(lead) and lines[at].text[len(lead) :].strip():
        following = lines[at].text[len(lead) :].rstrip()
        if not _goes_on(piece, following, width):
            break
        message += _between(piece, width) + following
        piece = following
        at += 1
    out.append(Line(number, lead + message))
    return at


def _goes_on(piece: str, following: str, width: int) -> bool:
    """Tell whether a line was broken here: what follows begins no deeper, and its first word would not have fit."""
    if following[:1] == " " or not width:
        return not width and following[:1] != " "
    return len(piece) <= width < len(piece) + 1 + len(following.split(" ", 1)[0])


def _between(piece: str, width: int) -> str:
    """Give what stood at a break: a blank, or nothing within a word that is longer than a line."""
    return "" if len(piece) == width and " " not in piece else " "
