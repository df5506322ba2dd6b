"""JavaScript stack traces, as far as needed to say where in the user's code it happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.intake.tracebacks import foremost
from aifix.lazy import lazy_re
from aifix.model import Frame, Location

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Line

# at fn (/path/file.js:10:5)   at /path/file.js:10:5   at async Object.<anonymous> (file:///C:/x/y.mjs:3:1)
_AT = lazy_re(
    r"\s+at (?:async )?(?:(?P<function>[^()\n]{1,200}?)(?: \[as [^\]]{1,80}\])? \()?"
    r"(?P<file>(?:file://|node:|webpack-internal:///|https?://)?[^()\n]{1,500}?):(?P<line>\d{1,7}):\d{1,7}\)?[\s{]*$"
)
# The head of an uncaught error: the throwing line before its code and caret.
_THROWN = lazy_re(r"(?P<file>(?:file://)?(?:/|[A-Za-z]:[\\/])[^:\n]{1,500}\.[cm]?[jt]sx?):(?P<line>\d{1,7})$")
_SCHEME = lazy_re(r"file://(?:/(?=[A-Za-z]:))?")


def frames(lines: Sequence[Line], start: int, end: int) -> list[Frame]:
    """Return the frames that stand in `lines[start:end]`, the innermost first, as Node prints them."""
    found: list[Frame] = []
    for line in lines[start:end]:
        text = line.text
        match = _AT.match(text) if "at " in text else _THROWN.match(text)
        if match:
            file = _SCHEME.sub("", match["file"])
            function = match.groupdict().get("function") or ""
            found.append(Frame(file, int(match["line"]), function, "", is_user(file)))
    return found


def location(lines: Sequence[Line], at: int, reach: int = 40) -> Location | None:
    """Return the innermost user frame (else the innermost one) of the stack trace around line index `at`."""
    frame = foremost(_following(lines, at, reach))
    return Location(frame.file, frame.line, frame.function, frame.source) if frame is not None else None


def is_user(file: str) -> bool:
    """Whether a JavaScript file is the user's own."""
    path = file.replace("\\", "/")
    return not path.startswith(("node:", "internal/", "webpack-internal:", "http")) and "/" in path and "node_modules" not in path.split("/")


def _following(lines: Sequence[Line], at: int, reach: int) -> list[Frame]:
    """The frames of the one trace that begins at or shortly after `at`, or else the throwing line shortly before it."""
    stop = min(len(lines), at + reach)
    first = next((i for i in range(at, min(at + 12, stop)) if _AT.match(lines[i].text)), None)
    if first is not None:
        last = first
        while last < stop and (_AT.match(lines[last].text) or not lines[last].text.strip()):
            last += 1
        below = frames(lines, first, last)
        if any(frame.user for frame in below):
            return below
        return [*below, *frames(lines, max(0, at - 6), at)]
    return frames(lines, max(0, at - 6), at)
