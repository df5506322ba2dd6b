"""How outcomes move the chance of a fix: a Beta distribution that begins at the rule's prior.

The prior counts as `STRENGTH` outcomes; each real one adds to what worked or to what did not, and the chance is the mean of the posterior:
(STRENGTH x prior + worked) / (STRENGTH + worked + failed). Where a project has `ENOUGH` outcomes of its own, they move the chance a
second time, beginning at what all outcomes gave: a fix that helps everybody may be useless here.
Gelman et al., Bayesian Data Analysis, 3rd ed., 2.4 (conjugate prior) and 5.3 (hierarchical model).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aifix.reason.experience import Chance

if TYPE_CHECKING:
    from aifix.kb.store import Store
    from aifix.model import Rule

STRENGTH = 1.5
"""Outcomes that the rule's prior is worth: few, since whoever says what worked had the very failure. With this the truly best of the fixes that are
offered together comes first within 20 outcomes for every rule (tests/kb/test_learning.py)."""
ENOUGH = 2
"""Outcomes in one project from which on they count by themselves."""
CERTAIN = 0.98
"""No chance is ever said to be higher."""


class Tally(NamedTuple):
    """How often a fix worked and did not."""

    worked: int = 0
    failed: int = 0

    @property
    def tried(self) -> int:
        """How often it was tried."""
        return self.worked + self.failed


def posterior(prior: float, tally: Tally, strength: float = STRENGTH) -> float:
    """Give the mean of the Beta posterior over a prior."""
    return min((strength * prior + tally.worked) / (strength + tally.tried), CERTAIN)


def chance(prior: float, everywhere: Tally, here: Tally) -> Chance:
    """Give the chance of a fix.

    Args:
        prior: the rule's.
        everywhere: all outcomes of the fix under this diagnosis.
        here: those of this project, which are among them.

    """
    value = posterior(prior, everywhere)
    told = f"worked {everywhere.worked} of {everywhere.tried} times"
    if here.tried >= ENOUGH:
        value = posterior(value, here)
        told += f", {here.worked} of {here.tried} in this project"
    return Chance(value, f"{told}: chance {prior:.2f} -> {value:.2f}")


def chances(store: Store, rule: Rule, project: str) -> dict[str, Chance]:
    """Give the chances of a rule's fixes that were tried before, by id."""
    everywhere: dict[str, Tally] = {}
    here: dict[str, Tally] = {}
    query = "SELECT fix, project, sum(worked) AS worked, count(*) AS tried FROM outcomes WHERE diagnosis = ? GROUP BY fix, project"
    for row in store.rows(query, (rule.id,)):
        found = Tally(row["worked"], row["tried"] - row["worked"])
        before = everywhere.get(row["fix"], Tally())
        everywhere[row["fix"]] = Tally(before.worked + found.worked, before.failed + found.failed)
        if project and row["project"] == project:
            here[row["fix"]] = found
    return {fix.id: chance(fix.prior, everywhere[fix.id], here.get(fix.id, Tally())) for fix in rule.fixes if fix.id in everywhere}


def chance_now(store: Store, rule: Rule, fix: str, project: str) -> float | None:
    """Give the chance of one fix as it stands, learned or the rule's own; None where the rule has no such fix."""
    prior = next((one.prior for one in rule.fixes if one.id == fix), None)
    learned = chances(store, rule, project).get(fix)
    return learned.value if learned is not None else prior
