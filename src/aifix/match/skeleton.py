"""The wording of a signature without its variable parts: what the fuzzy stage compares lines with."""

from __future__ import annotations

from typing import Any

from aifix.match.literals import parse

HOLE = "\0"
"""Stands for a variable part."""
MOST = 6
"""Wordings made of one pattern's alternatives."""
SHORT_OPTION = 4
"""An optional part of up to this many characters is taken as present."""


def skeletons(pattern: str) -> list[str]:
    """Give the wordings that a pattern stands for, with `HOLE` for each variable part.

    Args:
        pattern: a regex, captures expanded.

    """
    found = []
    for text in _sequence(parse(pattern)):
        folded = text
        while HOLE + HOLE in folded:
            folded = folded.replace(HOLE + HOLE, HOLE)
        folded = folded.strip(HOLE + " ")
        if folded not in found:
            found.append(folded)
    return found[:MOST]


def _sequence(items: Any) -> list[str]:
    texts = [""]
    for operation, argument in items:
        options = _item(str(operation), argument)
        texts = [text + option for text in texts for option in options][:MOST]
    return texts


def _item(name: str, argument: Any) -> list[str]:
    if name == "LITERAL":
        return [chr(argument)]
    if name == "SUBPATTERN":
        return [HOLE] if argument[0] is not None else _sequence(argument[-1])
    if name == "BRANCH":
        return [text for branch in argument[1] for text in _sequence(branch)][:MOST]
    if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        low, _high, inner = argument
        once = _sequence(inner)
        if low >= 1:
            return once
        plain = once[0]
        if 0 < len(plain) <= SHORT_OPTION and HOLE not in plain:
            return [plain]
        return [HOLE]
    if name == "IN":
        literals = [value for kind, value in argument if str(kind) == "LITERAL"]
        categories = [str(value) for kind, value in argument if str(kind) == "CATEGORY"]
        if not categories and literals and len(literals) == len(argument):
            return [chr(literals[0])]
        return [" "] if categories == ["CATEGORY_SPACE"] else [HOLE]
    if name == "AT":
        return [""]
    return [HOLE]
