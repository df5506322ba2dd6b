"""What the probes' verdicts do to a case: they move its confidence, and a refuted root steps behind the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.model import Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.reason.candidate import Candidate

DEMOTES = 0.5
"""Joint likelihood ratio up to which a root steps behind roots that came later."""


def joint(one: Candidate) -> float:
    """Give the joint likelihood ratio of a candidate's verdicts."""
    ratio = 1.0
    for result in one.probes:
        ratio *= result.ratio
    return ratio


def moved(value: float, one: Candidate) -> tuple[float, list[Step]]:
    """Move a confidence by the verdicts of a candidate's probes, each by its likelihood ratio on the odds."""
    steps: list[Step] = []
    for result in one.probes:
        status = result.status.replace("-", " ")
        if result.ratio == 1:
            if result.status not in {"not-run", "not-available"}:
                steps.append(Step("probe", f"{result.id} {status}: the odds stay as they are"))
            continue
        before = min(max(value, 0.01), 0.99)
        odds = before / (1 - before) * result.ratio
        value = odds / (1 + odds)
        steps.append(Step("probe", f"{result.id} {status}: odds x {result.ratio:g}, {before:.2f} -> {value:.2f}"))
    return value, steps


def demoted(ordered: Sequence[Candidate]) -> list[Candidate]:
    """Keep the order in time, and put roots that this machine refutes behind the other roots."""
    roots = [one for one in ordered if one.cause is None and not one.symptom]
    rest = [one for one in ordered if one.cause is not None or one.symptom]
    return [*sorted(roots, key=lambda one: joint(one) <= DEMOTES), *rest]
