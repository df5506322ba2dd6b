"""`rules test`: every example of every rule, diagnosed by the whole base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix import api

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aifix.model import Example, Report
    from aifix.rulebase.base import Base
    from aifix.rulebase.source import Loaded


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
    facts = known[0].facts
    for name, text in example.facts.items():
        got = facts[name].text if name in facts else None
        if got != text:
            yield f"{where}: fact {name} is {got!r}, not {text!r}"


def _counterexample(item: Loaded, number: int, example: Example, base: Base) -> Iterator[str]:
    where = f"{item.file}: counterexample {number} of {item.rule.id}"
    report = api.diagnose_text(example.text, base=base)
    ids = [diagnosis.id for diagnosis in report.diagnoses]
    if ids and ids[0] == item.rule.id:
        yield f"{where}: diagnosed as {item.rule.id}"
    elif example.id and (not ids or ids[0] != example.id):
        yield f"{where}: diagnosed as {_ids(report)}, not {example.id}"
