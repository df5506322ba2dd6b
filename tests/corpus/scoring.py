"""Score reports against a labelled corpus, in process: the same figures as the project's scorer, and how calibrated the confidence is."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aifix import api

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from aifix.model import Report

BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)


@dataclass
class Score:
    """Counts over a corpus, and a line for each case that falls short."""

    right: int = 0
    cases: int = 0
    near: int = 0
    cited: int = 0
    facts: int = 0
    wanted: int = 0
    silent: int = 0
    healthy: int = 0
    short: list[str] = field(default_factory=list)
    said: list[tuple[float, bool]] = field(default_factory=list)

    def __str__(self) -> str:
        figures = (
            ("top1", self.right, self.cases),
            ("top3", self.near, self.cases),
            ("cause", self.cited, self.cases),
            ("facts", self.facts, self.wanted),
            ("abstain", self.silent, self.healthy),
        )
        return "\n".join([", ".join(f"{name} {got}/{of} ({100 * got / max(of, 1):.1f}%)" for name, got, of in figures), *self.short])

    def reliability(self) -> str:
        """Give the table of how often a confidence in each bin was right."""
        rows = ["said          right   of"]
        for low, high in itertools.pairwise(BINS):
            marks = [right for confidence, right in self.said if low <= confidence < high]
            if marks:
                rows.append(f"{low:.2f} to {min(high, 1):.2f}  {100 * sum(marks) / len(marks):5.1f}%  {len(marks):4}")
        return "\n".join(rows)


def cases_of(folder: Path) -> list[dict[str, Any]]:
    """Read a corpus's labels."""
    return [json.loads(line) for line in (folder / "cases.jsonl").read_text("utf-8").splitlines() if line.strip()]


def score(folder: Path, cases: Iterable[dict[str, Any]] | None = None) -> Score:
    """Diagnose every case of a corpus and count."""
    total = Score()
    for case in cases if cases is not None else cases_of(folder):
        data = (folder / case["file"]).read_bytes()
        _count(total, case, api.diagnose(data), data.decode("utf-8", "replace"))
    return total


def _count(total: Score, case: dict[str, Any], report: Report, text: str) -> None:
    ids = [diagnosis.id for diagnosis in report.diagnoses]
    if case["expect"] is None:
        total.healthy += 1
        total.silent += not ids
        if ids:
            total.short.append(f"{case['file']}: false alarm {ids[:3]}")
            total.said.append((report.diagnoses[0].confidence, False))
        return
    accepted = {case["expect"], *case.get("also_ok", [])}
    right = bool(ids) and ids[0] in accepted
    total.cases += 1
    total.right += right
    total.near += any(one in accepted for one in ids[:3])
    if ids:
        total.said.append((report.diagnoses[0].confidence, right))
    proof = {number for number, line in enumerate(text.split("\n"), 1) if case["cause_line"].strip() in line}
    cited = right and any(item.line in proof or case["cause_line"].strip() in item.text for item in report.diagnoses[0].evidence)
    total.cited += cited
    texts = [fact.text for fact in report.diagnoses[0].facts.values()] if ids else []
    wanted = [str(value) for value in case.get("facts", {}).values()]
    total.wanted += len(wanted)
    total.facts += sum(any(value in fact for fact in texts) for value in wanted)
    if not right:
        total.short.append(f"{case['file']}: expected {case['expect']}, got {ids[:3]}")
    elif not cited:
        total.short.append(f"{case['file']}: the proving line is not cited")
