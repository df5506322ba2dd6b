"""The values that a training prints over and over, by their names: losses, accuracies, gradient norms."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from aifix.model import Line

NUMBER = r"[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)"
_SPLIT = r"train(?:ing)?|val(?:id(?:ation)?)?|eval|test|total|avg|average|mean"
SAYS = r"['\"]?\s*(?:[:=|]|\bis\b|\bof\b|\s)\s*\[?\(?"
LOSS = lazy_re(
    rf"(?i)(?<![\w.])['\"]?(?P<name>(?:(?:{_SPLIT})[ ])?(?:[\w./-]*[_./-])?"
    rf"(?:loss|nll|cross[_ -]?entropy|xent|bce|cost|objective)(?:[_./-][\w./-]*)?|[a-z]+loss)"
    rf"{SAYS}(?P<value>{NUMBER})(?![\w.%])"
)
ACCURACY = lazy_re(
    rf"(?i)(?<![\w.])['\"]?(?P<name>[\w./-]*acc(?:uracy)?(?:@1|_?top_?1|1)?|top-?1){SAYS}(?P<value>{NUMBER})"
    rf"(?:\s?/\s?(?P<of>[1-9]\d*)\b)?\s?(?P<percent>%?)"
)
NORM = lazy_re(
    r"(?i)(?<![\w.])['\"]?(?P<name>g(?:rad(?:ient)?s?)?[_ -]?norm|total[_ -]norm)(?:[/_]\w+)?['\"]?\s*[:=|\s]\s*\[?\(?(?:tensor\()?"
    rf"(?P<value>{NUMBER}|nan|[-+]?inf)(?![\w.])"
)
RATE = lazy_re(rf"(?i)(?<![\w.])['\"]?(?:lr|learning_rate|learning rate)['\"]?\s*[:=|\s]\s*\[?(?P<rate>{NUMBER})")

LEAST = 4
"""Values that a series needs."""
CITED = 6
"""Lines of a series that are given as proof."""
_MARKS = " '\""
_BLANK = lazy_re(r"[\d.\s]+")


class Detection(NamedTuple):
    """A detector's finding: an index of a line, and captures as printed."""

    line: int
    captures: dict[str, str]


class Point(NamedTuple):
    """One value of a series: the index of its line, as printed, and as a number."""

    line: int
    text: str
    value: float


def series_of(lines: Sequence[Line], expression: re.Pattern[str], words: tuple[str, ...], *, every: bool) -> dict[str, list[Point]]:
    """Give the values by their name, with what stands before it: two loops of one log may both print a "loss"."""
    found: dict[str, list[Point]] = defaultdict(list)
    for index, line in enumerate(lines):
        if (not every and line.rank not in (None, 0)) or len(line.text) > 4000:
            continue
        lower = line.text.lower()
        if not any(word in lower for word in words):
            continue
        for match in expression.finditer(line.text):
            value, text = float(match["value"]), match["value"]
            if "of" in match.re.groupindex and match["of"]:  # 980/10000
                value, text = value / float(match["of"]), f"{value / float(match['of']):.4f}"
            if math.isfinite(value):
                before = _BLANK.sub("", line.text[max(match.start() - 24, 0) : match.start()])[-4:]
                found[f"{match['name'].lower().strip(_MARKS)}\t{before}"].append(Point(index, text, value))
    return found
