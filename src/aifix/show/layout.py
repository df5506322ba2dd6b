"""Small layout for reports: wrapping by display width, colours, signs and the wording of ranks, counts and confidence.

rich would do this too; its import alone takes five times as long as a bare interpreter (PERFORMANCE.md), and the
report is what a failed pipe waits for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aifix.model import Match

_UNBROKEN = "\xa0"
"""A blank that is no place to break at; sanitised text never holds one."""

_SEPARATORS = "/\\,;&?="
"""Characters behind which a word too wide for a line is cut."""

NARROWEST = 24
"""Below this many columns a report is laid out as if there were so many: nothing readable fits into less."""


class Signs(NamedTuple):
    """The few signs a report uses, apart from text."""

    failed: str = "✗"
    warning: str = "!"
    held: str = "✓"
    refuted: str = "✗"
    unsure: str = "?"
    skipped: str = "–"
    bar: str = "│"
    dot: str = "·"
    then: str = "↳"
    times: str = "×"
    dash: str = "–"


UNICODE = Signs()
ASCII = Signs(failed="x", held="+", refuted="x", skipped="-", bar="|", dot="-", then=">", times="x", dash="-")


def signs_for(encoding: str) -> Signs:
    """Choose the signs that an encoding can print."""
    try:
        "".join(UNICODE).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


class Paint:
    """Colours a text that is already laid out, or leaves it as it is."""

    def __init__(self, *, colour: bool) -> None:
        self.colour = colour

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def bad(self, text: str) -> str:
        """Paint what failed."""
        return self._wrap("1;31", text)

    def warn(self, text: str) -> str:
        """Paint what deserves attention."""
        return self._wrap("33", text)

    def good(self, text: str) -> str:
        """Paint what holds."""
        return self._wrap("32", text)

    def strong(self, text: str) -> str:
        """Paint a heading."""
        return self._wrap("1", text)

    def code(self, text: str) -> str:
        """Paint what can be copied."""
        return self._wrap("36", text)

    def dim(self, text: str) -> str:
        """Paint what matters less."""
        return self._wrap("2", text)


def display_width(text: str) -> int:
    """Count the terminal columns that a printable text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1 for character in text)


def wrap(text: str, width: int) -> list[str]:
    """Break one paragraph into lines of at most `width` columns.

    Blanks at the breaks are dropped, all others are kept; a word wider than a line is cut, never shortened, and a path
    or address is cut behind a separator where that is possible.
    """
    width = max(width, 2)
    lines: list[str] = []
    rest = text
    while len(rest) > 9 * width or display_width(rest) > width:  # the first question spares long lines the second
        end = _prefix(rest, width)
        # a break is fine at a blank, or after the last character that fits when a blank follows it
        at = end if rest[end] == " " else rest.rfind(" ", 1, end)
        if at <= 0 or not rest[:at].strip():
            at = 0
        if at < end // 6 or display_width(_word(rest, at)) > width:  # a line almost empty, or a word that fits on none
            at = max(at, 1 + max(rest.rfind(separator, end // 2, end) for separator in _SEPARATORS))
        at = at or end
        lines.append(rest[:at].rstrip(" "))
        rest = rest[at:].lstrip(" ")
    if rest or not lines:
        lines.append(rest)
    return lines


def hang(text: str, width: int, first: str, rest: str = "") -> list[str]:
    """Wrap a paragraph behind `first`, its further lines behind `rest` (by default blanks of the same width)."""
    rest = rest or " " * display_width(first)
    lines = wrap(text, width - max(display_width(first), display_width(rest)))
    return [(first if index == 0 else rest) + line for index, line in enumerate(lines)]


def hang_parts(parts: Iterable[str], width: int, first: str, dot: str, rest: str = "") -> list[str]:
    """Join short statements by a dot and wrap them behind `first`, breaking between statements where that is possible."""
    joined = f" {dot} ".join(part.replace(" ", _UNBROKEN) for part in parts if part).replace(f" {dot} ", f"{_UNBROKEN}{dot} ")
    return [line.replace(_UNBROKEN, " ") for line in hang(joined, width, first, rest)]


def paragraphs(text: str, width: int, indent: str) -> list[str]:
    """Wrap a text of several paragraphs; lines that start with blanks or a list mark keep their breaks."""
    out: list[str] = []
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        if out:
            out.append("")
        if any(line.startswith((" ", "- ", "* ")) for line in lines):
            out.extend(piece for line in lines for piece in hang(line, width, indent))
        else:
            out.extend(indent + piece for piece in wrap(" ".join(line.strip() for line in lines), width - len(indent)))
    return out


def name_ranks(ranks: Sequence[int], world: int | None = None) -> str:
    """Name ranks compactly: `rank 3`, `ranks 0-3, 7 (5 of 64)`.

    Args:
        ranks: Rank numbers, in any order.
        world: How many ranks there are, where known.
    """
    numbers = sorted(set(ranks))
    if not numbers:
        return ""
    pieces: list[str] = []
    start = previous = numbers[0]
    for number in [*numbers[1:], None]:
        if number is not None and number == previous + 1:
            previous = number
            continue
        if start == previous:
            pieces.append(str(start))
        elif previous == start + 1:
            pieces.extend((str(start), str(previous)))
        else:
            pieces.append(f"{start}-{previous}")
        if number is not None:
            start = previous = number
    of = f" ({len(numbers)} of {world})" if world is not None and world >= len(numbers) else ""
    return ("rank " if len(numbers) == 1 else "ranks ") + ", ".join(pieces) + of


def name_lines(numbers: Iterable[int]) -> str:
    """Name line numbers compactly: `line 57`, `lines 57, 812 and 3 more`."""
    known = sorted(set(numbers))
    if not known:
        return ""
    if len(known) == 1:
        return f"line {known[0]}"
    shown = ", ".join(str(number) for number in known[:3])
    more = f" and {len(known) - 3} more" if len(known) > 3 else ""
    return f"lines {shown}{more}"


def counted(number: int, noun: str) -> str:
    """Count things: `1 line`, `1,204 lines`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def sure(confidence: float) -> str:
    """Say a confidence: `97 % sure`. It is calibrated, so it never reads 100 or 0."""
    return f"{min(99, max(1, round(confidence * 100)))} % sure"


def by_likeness(match: Match) -> str:
    """Say that a message was read by likeness, and how like it is; empty where it matches exactly."""
    return f"read by likeness ({round(match.score * 100)} %)" if match.kind == "fuzzy" else ""


def recognised(match: Match) -> str:
    """Say how a message was recognised, in a sentence."""
    if match.kind == "exact":
        return "the text matches exactly"
    return f"by likeness, {round(match.score * 100)} % (the wording differs from the rule's)"


def _word(text: str, at: int) -> str:
    """Return the word that follows the blank at `at`."""
    return text[at : at + 4096].lstrip(" ").partition(" ")[0]


def _prefix(text: str, width: int) -> int:
    """Count the characters of `text` that fit into `width` columns (at least one)."""
    if text.isascii():
        return width
    used = 0
    for index, character in enumerate(text):
        used += display_width(character)
        if used > width:
            return max(index, 1)
    return len(text)
