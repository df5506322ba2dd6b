"""Hard-wrapped lines joined again: what a terminal, a ticket system or a copied window cut at one width.

A wrapped text gives itself away: no line is longer than the width, several have exactly that length, and what follows
them goes on in the middle of a word, a path or a frame. One such line alone may be chance, so then both readings are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.intake import prefixes
from aifix.intake.lines import numberless
from aifix.lazy import lazy_re
from aifix.model import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

_NARROWEST, _WIDEST = 32, 512
_USUAL = frozenset((80, 100, 120, 132, 140, 150, 160, 180, 200, 220, 240))
_NO, _RULED, _DOUBT, _MAYBE, _LIKELY, _STRONG, _CERTAIN = range(7)
_LONGEST = 64 * 1024

_FRAME = lazy_re(r'[\s|+>]*File "[^"\n]{1,2000}", line \d{1,7}(?:,? in \S.{0,300})?\s*$')
_FRAME_HEAD = lazy_re(r'[\s|+>]*File "')
# How a line begins that surely continues no other.
_RECORD = lazy_re(
    r'\s*File "[^"]{1,2000}"|(?:Original )?Traceback \(most|\$ |>>> |\[?\d{4}-\d\d-\d\d[ T]\d\d:|\[?\d\d:\d\d:\d\d[ .,|\]]'
    r"|\[rank\d+\]:|\[default\d+\]:|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)[: ]|\([\w.]+ pid=\d|[IWEF]\d{4} \d\d:"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:|[\w.-]+-\d+ +\| |npm (?:ERR|WARN|error|warn)|srun: |frame #\d+: |\[pod/|\s*$"
)
_ERROR = lazy_re(r"(?:[a-z_]\w{0,40}\.){0,8}[A-Za-z]\w{2,60}(?:Error|Exception|Warning)(?:: \S|$)")
_TASK = lazy_re(r" {0,3}\d{1,4}: ")
_RULE = lazy_re(r".*?(?P<end>[=\-_*~#^─━═])(?P=end){9,}$|[ ]*[│┃|║].*[│┃|║]$|\s*[~^]+\s*$")


def join(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with those joined that were cut at one width; in doubt the parts stay, behind the joined line."""
    width = max((len(line.text) for line in lines), default=0)
    if not _NARROWEST <= width <= _WIDEST:
        return list(lines)
    full = [i for i, line in enumerate(lines) if len(line.text) == width]
    # Each kind of line votes once: the same message from eight ranks says nothing about a width.
    verdicts = [_junction(lines, i) for i in {numberless(lines[i].text): i for i in full}.values()]
    cut = sum(verdict >= _LIKELY for verdict in verdicts)
    strong = sum(verdict >= _STRONG for verdict in verdicts)
    whole = sum(verdict == _NO for verdict in verdicts)
    if not cut:
        return list(lines)
    if strong and strong + cut >= 3 and whole * 4 <= cut:
        keep = False
    elif (max(verdicts) > _STRONG or strong > 1 or width in _USUAL) and whole <= cut:
        keep = True
    else:
        return list(lines)
    return _joined(lines, set(full), keep=keep)


def _joined(lines: Sequence[Line], full: set[int], *, keep: bool) -> list[Line]:
    out: list[Line] = []
    i = 0
    while i < len(lines):
        last = i
        size = 0
        doubt = keep
        while last in full and _junction(lines, last) > _RULED and size < _LONGEST:
            doubt = doubt or _junction(lines, last) == _DOUBT
            size += len(lines[last].text)
            last += 1
        if last == i:
            out.append(lines[i])
        else:
            parts = lines[i : last + 1]
            out.append(Line(lines[i].number, "".join(line.text for line in parts)))
            if doubt:
                out += parts
        i = last + 1
    return out


def _junction(lines: Sequence[Line], i: int) -> int:
    """Whether the full line at `i` goes on in the next."""
    if i + 1 >= len(lines):
        return _NO
    one, two = lines[i].text, lines[i + 1].text
    if lines[i + 1].number != lines[i].number + 1 or not two or two.isspace() or len(two) > len(one):
        return _NO
    if _FRAME_HEAD.match(one):
        if _FRAME.match(one):
            return _NO if two[0].isspace() else _STRONG if two[0].isalnum() else _DOUBT
        return _CERTAIN if _FRAME.match(one + two) else _LIKELY
    if _is_rule(one):
        return _MAYBE if two[0] == one[-1] and not two[0].isalnum() else _RULED
    if _RECORD.match(two):
        return _NO
    if numberless(one[:24]) == numberless(two[:24]):
        return _NO  # the same kind of line again
    if prefixes.begins_record(two) or (one[:3] == two[:3] and one.partition(" ")[0] == two.partition(" ")[0] != ""):
        return _NO
    if _TASK.match(two) and any(_TASK.match(line.text) for line in lines[max(i - 8, 0) : i + 1]):
        return _NO
    before, after = one[-1], two[0]
    if (
        _ERROR.match(two)
        or after == "\t"
        or (two.startswith("  ") and not one.endswith("  "))
        or (after.isupper() and (before.islower() or before == "."))
    ):
        return _DOUBT
    if (before.isalnum() or before == "_") and (after.islower() or after.isdigit() or after == "_"):
        return _STRONG
    if before.isspace() or after.isspace():
        # Hardly any line ends, or begins, with exactly one blank by itself.
        first = after if before.isspace() else two[1:2]
        inner = (first.islower() or first.isdigit()) and not one.endswith("  ")
        return _LIKELY if inner else _MAYBE
    return _LIKELY


def _is_rule(text: str) -> bool:
    """Tell whether a line is drawn, not said: one mark over and over (corners and gaps may stand between), a box's row, carets."""
    if len(text) > 9 and not (text[0].isalnum() or text[0] in "_ \t") and set(text) <= {text[0], " ", "+", "|"}:
        return True
    return _RULE.match(text) is not None
