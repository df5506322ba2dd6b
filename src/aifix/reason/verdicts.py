"""What the probes' verdicts do to a case: they move its confidence, and a refuted root steps behind the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.model import Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Fix
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
    """Keep the order in time, and put roots that this machine refutes behind the other roots; each that moved says so."""
    roots = [one for one in ordered if one.cause is None and not one.symptom]
    rest = [one for one in ordered if one.cause is not None or one.symptom]
    after = sorted(roots, key=lambda one: joint(one) <= DEMOTES)
    for place, one in enumerate(after):
        before = roots.index(one)
        if place > before:
            detail = (
                f"place {before + 1} -> {place + 1}: the verdicts multiply its odds by {joint(one):.3g}, and from {DEMOTES:g} down it steps behind"
            )
            one.steps = [*one.steps, Step("order", detail)]
        elif place < before:
            passed = ", ".join(other.id for other in roots[:before] if after.index(other) > place)
            one.steps = [*one.steps, Step("order", f"place {before + 1} -> {place + 1}: this machine speaks against {passed}")]
    return [*after, *rest]


def fixes_moved(before: Sequence[Fix], after: Sequence[Fix]) -> list[Step]:
    """Say how the verdicts changed the order of the fixes."""
    old, new = [fix.id for fix in before], [fix.id for fix in after]
    steps = []
    for place, name in enumerate(new):
        if name not in old:
            steps.append(Step("fixes", f"{name} came in at place {place + 1}, by the verdicts"))
        elif [other for other in old if other in new].index(name) != [other for other in new if other in old].index(name):
            steps.append(Step("fixes", f"{name}: place {old.index(name) + 1} -> {place + 1}, by the verdicts"))
    return [*steps, *(Step("fixes", f"{name} fell out, by the verdicts") for name in old if name not in new)]
