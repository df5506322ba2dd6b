"""`rules test`: every example of every rule, diagnosed by the whole base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix import api
from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aifix.model import Diagnosis, Example, Report
    from aifix.rulebase.base import Base
    from aifix.rulebase.source import Loaded


_STUMBLE = lazy_re(
    r"(?<![\w.\]]) [.,;](?=\s|$)|[^.]\.[,;](?=\s)|,,|(?<![\w\])])\(\s*\)"
    r"|(?<![\d.-])\b1 (?:are (?:left|visible)|(?:value|channel|task|processe|rank|entrie|dimension|row|worker|element|node|GPU|sample|step)s\b)"
)
"""What dropped parts and filled values leave behind in a sentence."""


def failures(loaded: Sequence[Loaded], base: Base) -> Iterator[str]:
    """Diagnose each example and counterexample; give a line for each that comes out wrong.

    Args:
        loaded: the rules whose examples are run.
        base: the whole base.

    """
    for item in loaded:
        for number, example in enumerate(item.examples, 1):
            yield from _example(item, number, example, base)
        for number, example in enumerate(item.counterexamples, 1):
            yield from _counterexample(item, number, example, base)


def _ids(report: Report) -> str:
    return ", ".join(diagnosis.id for diagnosis in report.diagnoses) or "nothing"


def _example(item: Loaded, number: int, example: Example, base: Base) -> Iterator[str]:
    where = f"{item.file}: example {number} of {item.rule.id}"
    report = api.diagnose_text(example.text, genre="log", base=base)
    known = [diagnosis for diagnosis in report.diagnoses if diagnosis.match.kind == "exact"] or list(report.hints)
    wanted = example.id or item.rule.id
    if not known or known[0].id != wanted:
        yield f"{where}: diagnosed as {_ids(report)}" + (f"; hints {', '.join(hint.id for hint in report.hints)}" if report.hints else "")
        return
    yield from (f"{where}: {fault}" for fault in _reads_badly(known[0]))
    facts = known[0].facts
    for name, text in example.facts.items():
        got = facts[name].text if name in facts else None
        if got != text:
            yield f"{where}: fact {name} is {got!r}, not {text!r}"


def _reads_badly(diagnosis: Diagnosis) -> Iterator[str]:
    """Give what a person would stumble over: no fix at all, a text with a hole that something dropped out of, one thing in the plural."""
    if not diagnosis.fixes:
        yield "no fix is offered"
    texts = (diagnosis.title, diagnosis.explanation, *(text for fix in diagnosis.fixes for text in (fix.title, fix.why)))
    for text in texts:
        for found in _STUMBLE.finditer(text):
            yield f"the text reads {text[max(0, found.start() - 30) : found.end() + 20]!r}"


def _counterexample(item: Loaded, number: int, example: Example, base: Base) -> Iterator[str]:
    where = f"{item.file}: counterexample {number} of {item.rule.id}"
    report = api.diagnose_text(example.text, base=base)
    ids = [diagnosis.id for diagnosis in report.diagnoses]
    if ids and ids[0] == item.rule.id:
        yield f"{where}: diagnosed as {item.rule.id}"
    elif example.id and (not ids or ids[0] != example.id):
        yield f"{where}: diagnosed as {_ids(report)}, not {example.id}"
