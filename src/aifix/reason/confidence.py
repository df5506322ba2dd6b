"""How sure a diagnosis is, as a chance: said 0.9, right nine times in ten (measured on the corpus by the tests)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.model import Step
from aifix.reason import verdicts

if TYPE_CHECKING:
    from aifix.reason.candidate import Candidate

FUZZY = 0.82
"""Factor of a match by likeness, over its score."""
RIVAL = 0.88
"""Factor when another root cause of the same strength stands in the log and is no consequence of this one."""
SYMPTOM = 0.7
"""Factor of a mere consequence that stands alone: its cause is not in the log."""
WARNING = 0.6
"""Factor of a wording that runs often survive."""


def confidence(one: Candidate, roots: list[Candidate]) -> tuple[float, list[Step]]:
    """Give the confidence of a candidate and its derivation.

    Args:
        one: the candidate.
        roots: all candidates that stand for root causes.

    """
    value = one.strength
    steps = [Step("strength", f"{value:.2f}: how sure this wording alone makes it")]
    if one.fuzzy:
        value *= FUZZY
        steps.append(Step("likeness", f"x {FUZZY}: recognised by likeness, not by its exact wording"))
    if one.symptom and one.cause is None:
        value *= SYMPTOM
        steps.append(Step("symptom", f"x {SYMPTOM}: a consequence whose cause is not in the log"))
    if one.warning:
        value *= WARNING
        steps.append(Step("warning", f"x {WARNING}: runs often survive this message"))
    rivals = [other for other in roots if other is not one and other.cause is None and other.strength >= one.strength - 0.1 and not other.warning]
    if rivals and one.cause is None:
        value *= RIVAL
        steps.append(Step("rival", f"x {RIVAL}: {', '.join(sorted(other.id for other in rivals))} may be the root instead"))
    value, more = verdicts.moved(value, one)
    return round(min(max(value, 0.01), 0.99), 3), steps + more
