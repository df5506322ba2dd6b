"""Bytes to clean, numbered lines: no escapes, no control characters, redraws folded, endless lines bounded."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from aifix.lazy import lazy_re
from aifix.model import Line

if TYPE_CHECKING:
    from collections.abc import Iterable

WINDOW = 32 * 1024
"""Characters of an over-long line that are looked at at a time."""
OVERLAP = 1024
"""Characters that one window shares with the next: what stands across their border is whole in one of them."""

_LONG = 2 * WINDOW
_WHOLE = 1 << 20
"""Bytes of a line without redraws that are looked at: half of them at each end."""
_REDRAWS = 4 * 1024 * 1024  # of a line that is one endless progress bar, this much at each end is looked at

_COLOUR = lazy_re(r"\x1b\[[0-9;:]*m")
_ESCAPE = lazy_re(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\|\x9c)"  # OSC first: its body may hold anything
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]{0,4096}(?:\x1b\\|\x9c)"  # DCS, SOS, PM, APC
    r"|(?:\x1b\[|\x9b)(?P<arguments>[0-?]*)[ -/]*(?P<final>[@-~]?)"  # CSI
    r"|\x1b[ -/]+[0-~]?"  # character sets
    r"|\x1b[78=>DEHMNOZc\\\]PX^_]?"
)
# Escapes whose first character got lost on the way: copied from a web page, or `cat -v`, or a JSON string.
_SHOWN_ESCAPE = lazy_re(r"(?:\^\[|\\u001[bB]|\\x1[bB]|\\0?33|␛)\[[0-9;]*[A-Za-z]")
_BARE_COLOUR = lazy_re(r"\[(?:0|[1-9]\d{0,2})(?:;\d{1,3}){0,5}m")
_CONTROL = lazy_re(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")
# C1 controls, zero-width and bidirectional marks: invisible, and they hide or reorder what a person reads.
_INVISIBLE = lazy_re("[\x80-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")

# The end of a progress bar: tqdm's `[00:31<00:30,  1.91it/s, loss=0.871]`, or Keras' `- ETA: 9:42` and metrics.
_BAR = lazy_re(
    r"\[(?:\d+ days?, )?\d+:\d\d(?::\d\d)?(?:<[^\],]{1,24})?, [^\]/]{0,40}/\w+[^\]]{0,400}\]"
    r"|\d+/(?:\d+|Unknown) (?:\[[=>.]{5,}\]|━{5,}) ?(?:- )?(?:ETA: )?[\d:]+m?s?"
    r"(?: \d+\w{1,3}/(?:step|epoch|sample))?(?: - [A-Za-z]\w{0,40}: (?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|nan))*"
)
_BAR_HEAD = lazy_re(r" *\d{1,3}%(?:\||[ ]+\d+/)| *\d+/(?:\d+|Unknown) [\[━]| *\d+(?:it|\s\w+) \[")
_PACKED = "\\n"
_PACKED_TRACE = lazy_re(r"\\n +File \\?[\"']|Traceback \(most recent call last\):\\n")
_PACKED_CHARACTER = lazy_re(r"\\([\"'\\t/])")
_DIGITS = lazy_re(r"\d+")
_ALARM = lazy_re(r"[Ee]rror|Exception|Traceback|[Ww]arn|WARN|ERROR|[Ff]ailed")
_CHANGING = lazy_re(r"[\s\d.,:/%#=>|\\█▏▎▍▌▋▊▉░▒━╸╺⠀-⣿-]+")


def clean(data: bytes, first: int = 1) -> list[Line]:
    """Return the lines of `data`, numbered from `first`; several lines share a number where carriage returns redrew one."""
    return fold(printable(data, first))


def printable(data: bytes, first: int = 1) -> list[Line]:
    """Return the raw lines of `data` without escapes and control characters, carriage returns still inside."""
    text = _bounded(_utf8(data)).decode("utf-8", "replace")
    raws = without_controls(text).split("\n")
    if not text or text.endswith("\n"):
        raws.pop()
    # rstrip: CRLF, also doubled by a careless copy
    return [Line(number, raw.rstrip("\r") if "\r" in raw else raw) for number, raw in enumerate(raws, first)]


def fold(raws: Iterable[Line]) -> list[Line]:
    """Fold redraws: what a raw line said beside its progress bar becomes lines of its own, of the bar the last state stays."""
    lines: list[Line] = []
    for line in raws:
        text = line.text
        if "\r" in text or _may_hold_bar(text):
            lines.extend(Line(line.number, part) for part in _parts(text))
        elif len(text) > _LONG:
            lines.extend(Line(line.number, part, line.rank, line.prefix) for window in _windows(text) for part in _unpacked(window))
        elif _PACKED in text:
            lines.extend(Line(line.number, part, line.rank, line.prefix) for part in _unpacked(text))
        else:
            lines.append(line)
    return lines


def _windows(text: str) -> list[str]:
    """Cut an over-long line into windows that overlap."""
    return [text[at : at + WINDOW] for at in range(0, len(text) - OVERLAP, WINDOW - OVERLAP)]


def numberless(text: str) -> str:
    """Give a text without its numbers: lines of one kind, and prefixes of one logger, have one shape."""
    return _DIGITS.sub("0", text)


def is_progress(text: str) -> bool:
    """Whether a cleaned line is a progress bar and nothing else."""
    if not _may_hold_bar(text):
        return False
    match = _BAR.search(text)
    if match is None:
        return "━━━━━" in text and not _ALARM.search(text)
    return match.end() == len(text.rstrip()) and not _ALARM.search(text, 0, match.start())


def _utf8(data: bytes) -> bytes:
    """Windows PowerShell's `>` writes UTF-16."""
    if b"\0" in data or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        from aifix.intake.utf16 import narrow

        return narrow(data)
    return data


def _bounded(data: bytes) -> bytes:
    """Cut the middle out of over-long lines before anything expensive looks at them."""
    if len(data) <= _LONG:
        return data
    kept: list[bytes] = []
    done = start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        if end < 0:
            end = len(data)
        if end - start > _LONG:
            # Redraws of a bar are dropped later, and what stands between them is wanted: allow them more room.
            room = _REDRAWS if data.find(b"\r", start, end - 1) >= 0 else _WHOLE // 2
            if end - start > 2 * room:
                kept += [data[done : start + room], b"\r"]
                done = end - room
        start = end + 1
    if not kept:
        return data
    return b"".join([*kept, data[done:]])


def without_controls(text: str) -> str:
    """Take escapes, control characters and invisible marks out of a text; carriage returns and line feeds stay."""
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    if "\x1b" in text or "\x9b" in text or "\x9d" in text or "\x90" in text:
        text = _ESCAPE.sub(_effect, text)
    if "[0m" in text or "[m" in text or "[39m" in text:
        text = _SHOWN_ESCAPE.sub("", text)
        if "[0m" in text:
            text = _BARE_COLOUR.sub("", text)
    if "\x08" in text:
        text = re.sub("\x08{2,}", "\r", text)  # Keras and old wget redraw with backspaces
        text = re.sub("[^\n\r\x08]\x08", "", text)  # overstruck characters of a manual page
    text = _CONTROL.sub("", text)
    if not text.isascii():
        text = _INVISIBLE.sub("", text).replace("\u00a0", " ")  # web pages and chats keep indentation with blanks that do not break
    return text


def _effect(match: re.Match[str]) -> str:
    """What a terminal escape leaves behind: moving the cursor back starts a redraw, moving it forward leaves a gap."""
    final = match["final"]
    if not final:
        return ""
    if final in "ABEFGHdf" or (final in "JK" and match["arguments"] == "2"):
        return "\r"
    if final == "C":
        steps = match["arguments"]
        return " " * (min(int(steps), 200) if steps.isdecimal() and len(steps) < 5 else 1)
    return ""


def _may_hold_bar(text: str) -> bool:
    return ("]" in text and ("/s" in text or "s/" in text)) or "ETA" in text or "━━━" in text


def _unpacked(text: str) -> list[str]:
    """Give a traceback inside a JSON string line by line: structured loggers and container engines print it so; any other text as it is."""
    if _PACKED not in text or not _PACKED_TRACE.search(text):
        return [text]
    parts = text.split(_PACKED)
    return [_PACKED_CHARACTER.sub(lambda match: {"t": "\t", "n": "\n"}.get(match[1], match[1]), part).rstrip("\n") for part in parts]


def _parts(raw: str) -> list[str]:
    """Split a raw line into what its redraws said: every other text once, of progress bars only the last."""
    parts: list[str] = []
    bar = ""
    shape = ""
    for segment in raw.split("\r"):
        if not segment or segment.isspace():
            continue
        if len(segment) > _LONG:
            parts += _windows(segment)
            continue
        for text, is_bar in _bars(segment) if _may_hold_bar(segment) else [(segment, False)]:
            if is_bar:
                bar = text
                continue
            new = _CHANGING.sub("", text) if len(text) < 400 and "\r" in raw else text
            if parts and new == shape and not bar:
                parts[-1] = text
                continue
            if bar:
                parts.append(bar)
                bar = ""
            parts.append(text)
            shape = new
    if bar:
        parts.append(bar)
    return parts or [""]


def _bars(segment: str) -> list[tuple[str, bool]]:
    """Split a text into (text, is it a progress bar)."""
    found: list[tuple[str, bool]] = []
    start = 0
    for match in _BAR.finditer(segment):
        head = _BAR_HEAD.search(segment, start, match.end())
        begin = head.start() if head else match.start()
        caption = segment[start:begin]
        if len(caption) > 80 or _ALARM.search(caption):
            found.append((caption, False))
            start = begin
        found.append((segment[start : match.end()], True))
        start = match.end()
    rest = segment[start:]
    if not found or (rest and not rest.isspace() and any(c.isalnum() for c in rest)):
        found.append((rest, False))
    return found
