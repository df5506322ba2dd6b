"""Words of a text, as search and likeness count them."""

from __future__ import annotations

from aifix.lazy import lazy_re

_STOP = "a an and are at be by do does for from have how i if in is it my not of on or so that the there this to was what when why with you"
STOP = frozenset(_STOP.split())
"""Words that tell nothing about what is looked for."""

_WORD = lazy_re(r"[a-z0-9]{2,}")


def words_of(text: str) -> list[str]:
    """Give the words of a text in lower case; `num_workers` and `cuda.oom` are two each."""
    return _WORD.findall(text.lower())
