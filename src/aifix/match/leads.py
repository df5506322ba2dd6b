"""Whether a wording that is near to an unknown error leads anywhere: by what they share that other wordings do not have."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WORD = lazy_re(r"[a-z0-9_]*[a-z][a-z0-9_]*")
_SAID_BY_ALL = (
    "attribute object argument arguments keyword unexpected positional required missing takes given name defined module named instance method "
    "function callable subscriptable iterable supported operand unpack values index range list tuple dict string bytes integer type must been "
    "division zero command exit returned status non process exception error failed caught with from does exist cannot because __init__"
)
PLAIN = frozenset(_SAID_BY_ALL.split())
"""Words of Python's own messages: `'Config' object has no attribute 'hidden'` is like every other missing attribute, and leads nowhere."""
SHORTEST = 4
TELLING = 0.9
"""Weight of the shared words from which on a wording is a lead; a word that one rule alone has weighs 1."""
LEAST = 0.55
"""And of a short wording that a line holds whole."""
SHARE = 0.5
"""Share of a wording's own weight that a line must hold."""
BESIDE = 0.8
"""Share of the best lead's weight below which another is none."""


def words(text: str) -> set[str]:
    """Give the words of a text that may tell something: no exception's class, none of Python's own messages."""
    found = _WORD.findall(text.lower())
    return {word for word in found if len(word) >= SHORTEST and word not in PLAIN and not word.endswith(("error", "exception", "warning"))}


class Leads:
    """Weighs the words of all wordings: one that many rules have weighs little."""

    def __init__(self, wordings: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Weigh.

        Args:
            wordings: rule, and literal parts of a message of its.

        """
        rules: dict[str, set[str]] = defaultdict(set)
        all_rules: set[str] = set()
        for rule, segments in wordings:
            all_rules.add(rule)
            for word in words(" ".join(segments)):
                rules[word].add(rule)
        most = math.log(len(all_rules) + 1)
        self._weights = {word: 1 - math.log(len(having)) / most for word, having in rules.items()}

    def weight(self, line: str, segments: Sequence[str]) -> float:
        """Weigh what a line shares with a wording; 0 where that is too little to lead anywhere."""
        own = words(" ".join(segments))
        whole = sum(self._weights.get(word, 0.0) for word in own)
        common = own & words(line)
        shared = sum(self._weights.get(word, 0.0) for word in common)
        tells = len(common) > 1 and shared >= min(TELLING, max(whole, LEAST)) and shared >= SHARE * whole
        return shared if tells else 0.0
