"""The fuzzy stage: mistyped, cut and reworded messages; never progress lines; never another number."""

from __future__ import annotations

import pytest
from tests.rules_of import base_of, diagnose

SHAPES = r"id: tensor.matmul-shape" + "\nsignatures: [{pattern: 'mat1 and mat2 shapes cannot be multiplied \\({a:shape} and {b:shape}\\)'}]"
KILLED = r"id: host.oom-killed" + "\nsignatures: [{pattern: 'failed \\(exitcode: -9\\) local_rank: {rank:int}'}]"


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("RuntimeErrcr: mat1 and nat2 shapes cannot be multqplied (32x512 and 256x10)", {"a": "32x512", "b": "256x10"}),
        ("RuntimeError: mat1 and mat2 shapes can not be multiplied (32x512 and 256x10)", {"a": "32x512", "b": "256x10"}),
        ("mat1 and mat2 shapes cannot be multipl", {}),
    ],
    ids=["mistyped", "reworded", "cut"],
)
def test_a_message_is_recognised_by_likeness_and_still_yields_its_numbers(line: str, facts: dict[str, str]) -> None:
    first = diagnose(line, SHAPES).diagnoses[0]
    assert first.id == "tensor.matmul-shape"
    assert first.match.kind == "fuzzy"
    assert 0.8 < first.match.score < 1
    assert first.confidence < 0.85
    assert {name: fact.text for name, fact in first.facts.items() if name in {"a", "b"}} == facts


@pytest.mark.parametrize(
    "line",
    [
        "epoch 3 step 120 loss 0.31 shapes ok, matmul time 12 ms",
        "ValueError: the table of shapes cannot be read",
        "torch.distributed.elastic: failed (exitcode: 1) local_rank: 4 (pid: 20534)",
        "error: multiplied shapes",
    ],
)
def test_what_is_only_near_is_left_unclaimed(line: str) -> None:
    assert diagnose(line, SHAPES, KILLED).diagnoses == ()


def test_an_exact_root_makes_likeness_unnecessary() -> None:
    report = diagnose("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)\nfailed (exitcqde: -9) local_rank: 0", SHAPES, KILLED)
    assert [diagnosis.id for diagnosis in report.diagnoses] == ["tensor.matmul-shape"]


def test_the_nearest_wordings_are_leads_for_an_unknown_failure() -> None:
    from aifix.match.fuzzy import nearest

    found = nearest(base_of(SHAPES, KILLED), ["RuntimeError: mat1 and mat2 cannot be added"])
    assert [near.id for near in found] == ["tensor.matmul-shape"]
