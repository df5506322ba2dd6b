"""What `rules test` refuses beyond a wrong diagnosis: no fix, and texts that a dropped part or a filled value spoils."""

from __future__ import annotations

import pytest

from aifix.rulebase import base as rulebase
from aifix.rulebase.check import failures
from aifix.rulebase.source import loads

RULE = """
id: a.b
title: Too many workers
explain: The pool has {n} workers[[ of {all}]]; the queue is full.
signatures: [{pattern: 'the pool of workers refuses {n:int}(?: of {all:int})?'}]
fixes:
  - {id: fewer, title: Start fewer, when: 'n > 0', prior: 0.5, effort: low, risk: none, do: [{kind: note, text: x}]}
examples: ['the pool of workers refuses 4 of 9 today']
"""


def faults(rule: str) -> list[str]:
    loaded = loads(rule, file="rule.yaml")
    return list(failures([loaded], rulebase.from_rules([loaded.rule], {})))


def test_a_rule_that_reads_well_passes() -> None:
    assert faults(RULE) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("'n > 0'", "'n > 4'", "no fix is offered"),
        ("refuses 4 of 9 today", "refuses 1 of 9 today", "pool has 1 workers of 9"),
        ("[[ of {all}]]; the", "[[ of {all}]].[[; all are {all}]]. The", "of 9.; all are"),
    ],
)
def test_what_a_person_would_stumble_over_is_refused(old: str, new: str, fault: str) -> None:
    assert old in RULE
    assert any(fault in line for line in faults(RULE.replace(old, new)))
