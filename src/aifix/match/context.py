"""Context conditions of signatures: what must, and must not, stand around a match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.intake.lines import numberless
from aifix.lazy import lazy_re
from aifix.match.ending import ended_well, logged_as_warning, taken_up, tried_again, went_on
from aifix.match.passed import passed
from aifix.match.regex import PatternError, compile_pattern
from aifix.match.search import searcher

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from aifix.match.exact import Hit
    from aifix.model import Document, Line, Rule, Signature


def fitting(hits: Iterable[Hit], document: Document, rules: Mapping[str, Rule]) -> list[Hit]:
    """Keep the hits whose signature's conditions on the rest of the log hold.

    Args:
        hits: what a matching stage found.
        document: the cleaned input.
        rules: the base.
    """
    kept = []
    listed = list(hits)
    well = bool(listed) and ended_well(document, max(hit.line for hit in listed))
    green = passed(document.lines) if listed else []
    raised = {line for traceback in document.tracebacks if traceback.frames for line in range(traceback.start, traceback.end)}
    relays = {numberless(document.lines[line].prefix) for line in raised}
    for hit in listed:
        signature = rules[hit.rule].signatures[hit.signature]
        if _fits(signature, hit, document):
            survived = (
                signature.level == "warning"
                or any(hit.line in stretch for stretch in green)
                or _warned(document.lines[hit.line], signature)
                or (hit.line not in raised and _logged_as_harmless(document.lines[hit.line], signature, relays))
                or (well and hit.line not in raised and (tried_again(document, hit.line) or taken_up(document, hit.line)))
                or (logged_as_warning(document.lines[hit.line]) and went_on(document, hit.line))
            )
            kept.append(hit._replace(survived=survived))
    return kept


_HARMLESS = lazy_re(r"\bNCCL INFO\b|^\W{0,2}(?:INFO|DEBUG|TRACE)\b|\b(?:INFO|DEBUG)\b\W{0,4}$")
_EXPECTED = lazy_re(r"::\S+.*\b(?:PASSED|XFAIL|XPASS|SKIPPED)\b|^(?:ok \d+ - |✓|√|PASS )|\.\.\. (?:ok|skipped)\b")
"""A test runner's line about a test that did what it should: its name and reason quote errors."""
_WARNING = lazy_re(r"\b(?:[A-Z]\w*)?Warning: ")


_RELAY = lazy_re(r"\{(?:subprocess|docker|pod_manager|kubernetes_pod|ssh|logging_mixin|process_utils|bash)\.py:\d+\} INFO")
"""Airflow's operators log what the task prints, whatever it is, as information."""


def _logged_as_harmless(line: Line, signature: Signature, relays: Collection[str]) -> bool:
    """Tell whether the program itself logged a line as information, or a test runner as what it should be.

    Args:
        line: the line.
        signature: what matched it.
        relays: prefixes, as `numberless` gives them, that tracebacks have too: their logger only passes on what another program prints.
    """
    if signature.detector:
        return False  # losses are logged as information, whatever they say
    if _EXPECTED.search(line.text):
        return True
    if _HARMLESS.search(line.prefix) and not _RELAY.search(line.prefix) and numberless(line.prefix) not in relays:
        return "INFO" not in signature.source
    if _HARMLESS.search(line.text):
        return "INFO" not in signature.source
    return False


def _warned(line: Line, signature: Signature) -> bool:
    """Tell whether a line is a Python warning that the signature does not name."""
    return _WARNING.search(line.text) is not None and "arning" not in signature.source and "arning" not in signature.covers


def _fits(signature: Signature, hit: Hit, document: Document) -> bool:
    """Tell whether all `with` patterns and none of the `without` patterns stand near enough."""
    return all(_stands(pattern, hit, signature.within, document) for pattern in signature.having) and not any(
        _stands(pattern, hit, signature.within, document) for pattern in signature.without
    )


def _stands(pattern: str, hit: Hit, within: int | None, document: Document) -> bool:
    if within == 0 or hit.repaired:
        try:
            expression = compile_pattern(pattern)
            if expression.search(document.lines[hit.line].text) or (hit.repaired and expression.search(hit.repaired)):
                return True
        except PatternError:
            return False
    if within == 0:
        return False
    where = searcher(document).lines(pattern)
    return bool(where) if within is None else any(abs(index - hit.line) <= within for index in where)
