"""The exact stage: every signature on the lines where one of its cores stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aifix.lazy import lazy_re
from aifix.match.prefilter import lines_by_core
from aifix.match.regex import PatternError, compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aifix.model import Document, Line, MatchKind
    from aifix.rulebase.form import Matcher

VERIFIED = 400
"""Lines on which one signature is verified: the first ones, and a few of the last."""
LAST = 40


class Hit(NamedTuple):
    """A signature that matched a line: index of the line in the document, captures as printed, how and how well.

    `survived` says that programs go on after this line: the signature is of level warning, or the line itself says so.
    `repaired` is the line with a mistyped wording put right; empty where it stands as it is.
    """

    rule: str
    signature: int
    line: int
    captures: dict[str, str]
    span: int
    kind: MatchKind = "exact"
    score: float = 1.0
    survived: bool = False
    repaired: str = ""


def quoted_lines(document: Document) -> set[int]:
    """Give the indices of the lines that only quote source code within tracebacks."""
    quoted: set[int] = set()
    for traceback in document.tracebacks:
        quoted.update(traceback.quoted)
    return quoted


def is_searched_source(line: Line) -> bool:
    """Tell whether a line is one of source that raises an error, found by a search and shown after its file and number."""
    return _SEARCHED.match(line.prefix + line.text) is not None


def _detected(document: Document, matcher: Matcher) -> list[Hit]:
    """Run the detectors that rules name."""
    hits: list[Hit] = []
    for signature in matcher.signatures:
        if signature.detector:
            from aifix.match.detectors import DETECTORS

            hits += [
                Hit(signature.rule, signature.index, found.line, found.captures, 0) for found in DETECTORS[signature.detector].find(document.lines)
            ]
    return hits


_SEARCHED = lazy_re(
    r"(?:\./)?[\w./\\@+-]{1,200}\.(?:pyx?|cc?|cpp|cuh?|h|hpp|rs|go|[jt]sx?|[mc]js|java|kt|cs|swift)[:-]\d{1,6}[:-]\s*"
    r"(?:(?:raise|throw)\s|panic!?\()"
)
"""A line of source as grep shows it: there the message is not printed but written down."""
_PROGRAM = lazy_re(r"([\w.@/-]+\[\d+\]|kernel|slurmstepd|srun): ?$")


def _spoken(line: Line) -> str:
    """Give a line's text, led by the program that the journal names before it: some messages are told by who says them."""
    found = _PROGRAM.search(line.prefix) if line.prefix else None
    return line.prefix[found.start() :] + line.text if found else line.text


def find(document: Document, matcher: Matcher, only: Iterable[int] | None = None) -> list[Hit]:
    """Match all signatures against a document.

    Args:
        document: the cleaned input.
        matcher: the base's matcher part.
        only: indices of the lines to look at; all by default.

    Returns:
        The hits in the order of the lines.

    """
    chosen = list(range(len(document.lines))) if only is None else sorted(only)
    texts = [_spoken(document.lines[index]) for index in chosen]
    by_core = lines_by_core(texts, matcher.cores, matcher.keys)
    quoted = quoted_lines(document)
    hits: list[Hit] = [] if only is not None else _detected(document, matcher)
    for signature in matcher.signatures:
        lines: set[int] = set()
        for core in signature.cores:
            lines.update(by_core.get(core, ()))
        if not lines:
            continue
        try:
            expression = compile_pattern(signature.pattern)
        except PatternError:
            continue
        ordered = sorted(lines)
        if len(ordered) > VERIFIED:
            ordered = ordered[: VERIFIED - LAST] + ordered[-LAST:]
        for position in ordered:
            index = chosen[position]
            if index in quoted and not signature.anywhere:
                continue
            found = expression.search(document.lines[index].text) or (expression.search(texts[position]) if document.lines[index].prefix else None)
            if found is not None and (signature.anywhere or not is_searched_source(document.lines[index])):
                captures = {name: text.strip() for name, text in found.groupdict().items() if text is not None}
                hits.append(Hit(signature.rule, signature.index, index, captures, found.end() - found.start()))
    hits.sort(key=lambda hit: hit.line)
    return hits
