"""Real logs with the right answer: the corpus beside the repository (where it stands), and the sets collected from public threads."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.corpus.scoring import BINS, Score, cases_of
from tests.corpus.scoring import score as score_anew

from aifix import api

if TYPE_CHECKING:
    from types import ModuleType

HERE = Path(__file__).parent
SHARED = HERE.parents[2] / "shared"
COLLECTED = sorted(folder for folder in HERE.iterdir() if (folder / "cases.jsonl").is_file())
needs_shared = pytest.mark.skipif(
    not (SHARED / "corpus" / "cases.jsonl").is_file(), reason="the labelled corpus stands beside the repository only where it is developed"
)


@functools.cache
def score(folder: Path) -> Score:
    return score_anew(folder)


def share(got: int, of: int) -> float:
    return got / of if of else 1.0


@needs_shared
def test_the_labelled_corpus() -> None:
    found = score(SHARED / "corpus")
    print(found, found.reliability(), sep="\n")
    assert share(found.right, found.cases) >= 0.97, found
    assert share(found.near, found.cases) >= 0.99, found
    assert share(found.cited, found.cases) >= 0.95, found
    assert share(found.facts, found.wanted) >= 0.90, found
    assert found.silent == found.healthy, found


@pytest.mark.parametrize("folder", COLLECTED, ids=lambda folder: folder.name)
def test_messages_collected_from_public_threads(folder: Path) -> None:
    found = score(folder)
    print(found, found.reliability(), sep="\n")
    assert share(found.right, found.cases) >= 0.96, found
    assert share(found.cited, found.cases) >= 0.94, found
    assert share(found.facts, found.wanted) >= 0.88, found
    assert share(found.silent, found.healthy) >= 0.93, found


def test_the_collected_set_is_large_and_broad() -> None:
    cases = [case for folder in COLLECTED for case in cases_of(folder)]
    assert sum(case["expect"] is not None for case in cases) >= 150
    assert len({case["expect"] for case in cases}) >= 150


def test_confidence_means_what_it_says() -> None:
    total = Score()
    for folder in [*COLLECTED, *([SHARED / "corpus"] if (SHARED / "corpus").is_dir() else [])]:
        total.said += score(folder).said
    print(total.reliability())
    for low, high in itertools.pairwise(BINS):
        marks = [right for confidence, right in total.said if low <= confidence < high]
        if len(marks) >= 20:
            assert share(sum(marks), len(marks)) >= low - 0.1, total.reliability()


def _scorer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("shared_score", SHARED / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_shared
@pytest.mark.parametrize(
    ("kind", "least"),
    [
        ("ansi", 0.98), ("crlf", 0.98), ("rank_prefix", 0.97), ("srun_prefix", 0.97), ("timestamp", 0.98), ("compose", 0.98), ("progress", 0.98),
        ("bury", 0.97), ("truncate_head", 0.96), ("wrap", 0.94), ("typo", 0.85),
    ],
)  # fmt: skip
def test_the_same_failures_as_they_look_elsewhere(kind: str, least: float) -> None:
    mutate = _scorer().MUTATIONS[kind]
    right, wrong, alarms = 0, [], []
    for case in cases_of(SHARED / "corpus"):
        text = (SHARED / "corpus" / case["file"]).read_bytes().decode("utf-8", "replace")
        text = mutate(text, random.Random(f"{kind}:{case['file']}"))  # noqa: S311 - the scorer's own seeds
        ids = [diagnosis.id for diagnosis in api.diagnose(text.encode("utf-8", "replace")).diagnoses]
        if case["expect"] is None:
            alarms += [case["file"]] if ids else []
        elif kind == "truncate_head" and case["cause_line"] not in text:
            continue
        elif ids and ids[0] in {case["expect"], *case.get("also_ok", [])}:
            right += 1
        else:
            wrong.append(f"{case['file']}: {ids[:3]}")
    assert share(right, right + len(wrong)) >= least, wrong
    assert len(alarms) <= 1, alarms
