"""Words of a text, as search and likeness count them."""

from __future__ import annotations

from aifix.lazy import lazy_re

_STOP = "a an and are at be by do does for from have how i if in is it my not of on or so that the there this to was what when why with you"
STOP = frozenset(_STOP.split())
"""Words that tell nothing about what is looked for."""

ENDINGS = ("ings", "ing", "ers", "er", "ies", "ed", "es", "s")
SHORTEST = 3
"""Letters that a stem keeps."""

_WORD = lazy_re(r"[a-z0-9]{2,}")


def words_of(text: str) -> list[str]:
    """Give the words of a text in lower case; `num_workers` and `cuda.oom` are two each."""
    return _WORD.findall(text.lower())


def stem(word: str) -> str:
    """Cut the commonest endings, so that forms of a word compare alike: `leaking`, `leaks` and `leak`."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST:
            return word[: -len(ending)]
    return word
