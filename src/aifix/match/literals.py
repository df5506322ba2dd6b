"""The literal cores of a regex: strings of which at least one stands in every match, for the prefilter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

sre_parse: Any = getattr(re, "_parser", None)
"""The standard library's own parser: it has no public name since Python 3.11."""
if sre_parse is None:  # pragma: no cover - Python 3.10
    import sre_parse

MIN_CORE = 6
"""Characters that a core needs: shorter ones stand on too many healthy lines."""

_WEIGHTLESS = re.compile(r"[\s\d:.,'\"()\[\]=<>/-]")


def weight(literal: str) -> float:
    """Give how selective a literal is: its letters count whole, blanks and punctuation a third."""
    light = len(_WEIGHTLESS.findall(literal))
    return len(literal) - light * 2 / 3


def cores(pattern: str) -> tuple[tuple[str, ...], bool]:
    """Find literals of which at least one stands in every match of the pattern.

    Args:
        pattern: a regex, captures already expanded.

    Returns:
        The literals (empty when there is none) and whether case is ignored.

    """
    parsed = sre_parse.parse(pattern)
    ignore_case = bool(parsed.state.flags & re.IGNORECASE)
    best = _best(parsed)
    found = tuple(dict.fromkeys(best or ()))
    return (tuple(core.lower() for core in found) if ignore_case else found), ignore_case


def _score(options: Sequence[str]) -> float:
    return min(map(weight, options)) - 0.5 * (len(options) - 1) if options else 0.0


def _best(items: Any) -> list[str] | None:
    """Give the most selective set of alternatives that a sequence of regex items requires."""
    candidates: list[list[str]] = []
    run: list[str] = []

    def flush() -> None:
        if run:
            candidates.append(["".join(run)])
            run.clear()

    for operation, argument in items:
        name = str(operation)
        if name == "LITERAL":
            run.append(chr(argument))
            continue
        if name == "IN" and len(argument) == 1 and str(argument[0][0]) == "LITERAL":
            run.append(chr(argument[0][1]))
            continue
        if name == "SUBPATTERN":
            inner = argument[-1]
            if all(str(op) == "LITERAL" for op, _ in inner):
                run.extend(chr(value) for _, value in inner)
                continue
            flush()
            found = _best(inner)
            if found:
                candidates.append(found)
            continue
        flush()
        if name == "BRANCH":
            options: list[str] = []
            for branch in argument[1]:
                found = _best(branch)
                if not found:
                    break
                options.extend(found)
            else:
                candidates.append(options)
        elif name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"} and argument[0] >= 1:
            found = _best(argument[2])
            if found:
                candidates.append(found)
    flush()
    return max(candidates, key=_score, default=None)
