"""What lint refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aifix.rulebase import lint as linter
from aifix.rulebase.source import loads

if TYPE_CHECKING:
    from pathlib import Path

GOOD = r"""
id: a.good
title: Good
explain: The number is {n}.
signatures: [{pattern: 'the answer was {n:int} today'}]
fixes:
  - {id: one, title: One, prior: 0.5, effort: low, risk: none, do: [{kind: note, text: '{n}'}]}
  - {id: two, title: Two, prior: 0.4, effort: low, risk: none, when: n > 3, do: [{kind: note, text: x}]}
  - {id: three, title: Three, prior: 0.3, effort: low, risk: none, do: [{kind: note, text: x}]}
examples: ['the answer was 4 today', 'and the answer was 5 today']
counterexamples: ['the answer was unknown']
"""


def problems(text: str) -> list[str]:
    loaded = loads(text)
    return [problem.message for problem in linter.lint([loaded], {loaded.rule.id: loaded.rule}, probes=["gpu.memory"])]


def test_a_good_rule_has_no_problems() -> None:
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("the answer was {n:int} today", r"\d+ {n:int} \w+", "too short or too common"),
        ("the answer was {n:int} today", "{n:int}|the answer", "no literal stands in every match"),
        ("the answer was {n:int} today", "RuntimeError: {n:int}", "stands on too many lines"),
        ("is {n}.", "is {m}.", "'m' is no fact"),
        ("is {n}.", "is {n.", "not closed"),
        ("when: n > 3", "when: n > m", "'m' is no fact"),
        ("when: n > 3", "when: open(n)", "no function 'open'"),
        ("when: n > 3", "when: n > 3 or log('today')", "what stands behind 'or' is never asked"),
        ("when: n > 3", "when: n.real", "not part of the expression language"),
        ("title: Good", "title: " + "x" * 70, "longer than 60"),
        ("id: two", "id: one", "occurs twice"),
        ("explain:", "causes: [no.such]\nexplain:", "no other rule"),
        ("explain:", "refine: [{to: no.such, when: n > 1}]\nexplain:", "which is no rule"),
        ("explain:", "probes: [no.probe]\nexplain:", "no built-in probe"),
        ("signatures: [{pattern: 'the answer was {n:int} today'}]", "facts: {n: '1'}", "nothing can select it"),
        (", 'and the answer was 5 today'", "", "two examples"),
        ("counterexamples: ['the answer was unknown']", "", "counterexample"),
        ("  - {id: three, title: Three, prior: 0.3, effort: low, risk: none, do: [{kind: note, text: x}]}\n", "", "three fixes"),
    ],
)
def test_each_fault_is_refused_with_its_reason(old: str, new: str, reason: str) -> None:
    assert old in GOOD
    assert any(reason in message for message in problems(GOOD.replace(old, new)))


def test_an_alternative_that_asks_first_or_needs_the_same_fact_is_good() -> None:
    for condition in ("has('n') and n > 3 or log('today')", "not has('n') or n > 3 or log('today')", "n > 3 or n < 1"):
        assert problems(GOOD.replace("when: n > 3", f'when: "{condition}"')) == []


def test_a_key_that_stands_twice_is_a_problem(tmp_path: Path) -> None:
    rule = tmp_path / "good.yaml"
    rule.write_text(GOOD.replace("title: Good", "title: Better\ntitle: Good"), encoding="utf-8")
    assert [problem.message for problem in linter.file_problems(rule)] == ["'title' stands twice here, and only the last one counts"]
