"""The worst text for each signature, made from its own regex: near-hits over and over, each wrong in its last character."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from aifix import api
from aifix.match.literals import BREAK, alternatives
from aifix.match.regex import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 64 << 10
"""Bytes of the longer text: lines beyond that are matched in windows."""
FILLERS = ("a", "1 ", "(", "- ")
"""What stands where a pattern leaves room."""


class Worst(NamedTuple):
    """A pattern, and the seconds that half of a text and the whole of it took."""

    pattern: str
    half: float
    whole: float


def patterns() -> list[str]:
    """Give the distinct patterns of all signatures."""
    return sorted({signature.pattern for rule in api.rule_base().values() for signature in rule.signatures if not signature.detector})


def near_hits(pattern: str, fillers: tuple[str, ...] = FILLERS) -> Iterator[str]:
    """Give texts that nearly match."""
    for text in alternatives(pattern)[:3]:
        for filler in fillers:
            near = filler.join(text.split(BREAK))[:-1]
            if near:
                yield near


def measure(fillers: tuple[str, ...] = FILLERS) -> list[Worst]:
    """Search each pattern in its near-hits, in a text of half the size and one of the whole."""
    found = []
    for pattern in patterns():
        compiled = compile_pattern(pattern)
        for near in near_hits(pattern, fillers):
            text = (near * (1 + SIZE // len(near)))[:SIZE]
            took = []
            for part in (text[: SIZE // 2], text):
                start = time.process_time()
                compiled.search(part)
                took.append(time.process_time() - start)
            found.append(Worst(pattern, *took))
    return found
