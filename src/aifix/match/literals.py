"""The literal cores of a regex: strings of which at least one stands in every match, for the prefilter."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Sequence

sre_parse: Any = getattr(re, "_parser", None)
"""The standard library's own parser: it has no public name since Python 3.11."""
if sre_parse is None:  # pragma: no cover - Python 3.10
    import sre_parse

MIN_CORE = 6
"""Characters that a core needs: shorter ones stand on too many healthy lines."""

BREAK = "\0"
"""Stands for a variable part between literals."""
MOST = 24
"""Alternatives into which a pattern is spelled out."""

_WEIGHTLESS = lazy_re(r"[\s\d:.,'\"()\[\]=<>/-]")


@functools.lru_cache(maxsize=8192)
def parse(pattern: str) -> Any:
    """Parse a regex; the last ones are kept, since cores, alternatives and skeletons are asked for in turn."""
    return sre_parse.parse(pattern)


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
    parsed = parse(pattern)
    ignore_case = bool(parsed.state.flags & re.IGNORECASE)
    best = _best(parsed) or []
    whole = [max(text.split(BREAK), key=weight) for text in _expanded(parsed) or []]
    if all(whole) and _score(whole) > _score(best):
        best = whole
    found = tuple(dict.fromkeys(best))
    return (tuple(core.lower() for core in found) if ignore_case else found), ignore_case


def _score(options: Sequence[str]) -> float:
    return min(map(weight, options)) - 0.25 * (len(set(options)) - 1) if options else 0.0


def alternatives(pattern: str) -> list[str]:
    """Give texts, with `BREAK` for each variable part, of which one stands in every match; empty when there are too many.

    Args:
        pattern: a regex, captures already expanded.
    """
    return _expanded(parse(pattern)) or []


def _expanded(items: Any) -> list[str] | None:
    """Spell a sequence of regex items out, every alternative of it; None when there are more than `MOST`."""
    texts = [""]
    for operation, argument in items:
        options = _spelled(str(operation), argument)
        if options is None:
            options = [BREAK]
        texts = [text + option for text in texts for option in options]
        if len(texts) > MOST:
            return None
    return texts


def _spelled(name: str, argument: Any) -> list[str] | None:
    if name == "LITERAL":
        return [chr(argument)]
    if name == "IN" and all(str(kind) == "LITERAL" for kind, _ in argument) and len(argument) <= 2:
        return [chr(value) for _, value in argument]
    if name == "SUBPATTERN":
        return _expanded(argument[-1])
    if name == "AT":
        return [""]
    if name == "BRANCH":
        spelled = [_expanded(branch) for branch in argument[1]]
        return None if any(texts is None for texts in spelled) else [text for texts in spelled for text in texts or []]
    if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        low, high, inner = argument
        once = _expanded(inner)
        if once is not None and low == 0 and high == 1 and len(once) <= 2 and BREAK not in "".join(once):
            return ["", *once]
        if once is not None and low >= 1:
            return [BREAK + text + BREAK for text in once]
    return None


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
