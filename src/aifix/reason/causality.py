"""Which candidate is the root, which merely follow from it, and which are vaguer names of the same event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.model import Step, Traceback
from aifix.reason.candidate import Candidate, named_by

if TYPE_CHECKING:
    from collections.abc import Sequence

SURE, LIKELY = 0.8, 0.5
"""Strengths that part the candidates into three groups; within a group the earlier line goes first."""


def drop_vaguer(found: list[Candidate]) -> list[Candidate]:
    """Drop candidates that are vaguer names of what another one says.

    A rule's `yields_to` names them; and one whose every line is claimed by a surer candidate goes too.
    """
    kept = [one for one in found if not any(other is not one and _gives_way(one, other) for other in found)]
    result = []
    for one in kept:
        shadow = next((other for other in kept if other is not one and one.lines <= other.lines and _surer(other, one)), None)
        if shadow is None:
            result.append(one)
    return result


def _gives_way(one: Candidate, other: Candidate) -> bool:
    """Tell whether one candidate's rule leaves the event to another, which must be no weaker in kind: no hint, no mere consequence."""
    if not named_by(one.rule.yields_to, other.id) or named_by(other.rule.yields_to, one.id):
        return False
    return not (other.warning and not one.warning) and not (other.symptom and not one.symptom)


def _surer(one: Candidate, other: Candidate) -> bool:
    """Tell whether one candidate explains the same lines more surely than the other."""
    if one.warning != other.warning:
        return other.warning
    if one.fuzzy != other.fuzzy:
        return other.fuzzy
    if one.symptom and not other.symptom:
        return False
    return (round(one.strength, 2), one.span) > (round(other.strength, 2), other.span)


def link(found: list[Candidate]) -> None:
    """Hang every consequence under its cause: the surest, then the earliest, of those that its rule names."""
    for one in found:
        causes = [other for other in found if other is not one and _can_cause(other, one) and not _follows(other, one)]
        roots = [other for other in causes if not other.symptom] or causes
        if roots:
            one.cause = min(roots, key=_order)
            one.steps.append(Step("cause", f"{one.id} follows from {one.cause.id}, which stands in the same log"))


def _can_cause(other: Candidate, one: Candidate) -> bool:
    """Tell whether a rule names another as its cause; of two that name each other the earlier is the cause."""
    if other.warning or not named_by(one.rule.causes, other.id):
        return False
    mutual = named_by(other.rule.causes, one.id)
    return not mutual or other.first <= one.first


def _follows(one: Candidate, other: Candidate) -> bool:
    """Tell whether `one` hangs, directly or not, under `other` (so that no circle arises)."""
    at: Candidate | None = one
    for _ in range(50):
        if at is None:
            return False
        if at.cause is other:
            return True
        at = at.cause
    return True


def _order(one: Candidate) -> tuple[int, int, float, int]:
    group = 0 if one.strength >= SURE else 1 if one.strength >= LIKELY else 2
    return (group + one.fuzzy, one.first, -one.strength, -one.span)


def order(found: list[Candidate]) -> list[Candidate]:
    """Order candidates: roots first (surest group, then time), then what follows from them."""
    return sorted(found, key=lambda one: (one.cause is not None or one.symptom, _order(one)))


def yields_to_unknown(one: Candidate, strangers: Sequence[Traceback]) -> bool:
    """Tell whether a candidate merely follows from an error that no rule knows.

    A pure symptom does so whenever there is one; what broad causes can bring about, when the unknown error came first.
    """
    if not strangers or one.cause is not None:
        return False
    if one.symptom:
        return True
    broad = any(pattern == "*" or pattern.endswith(".*") for pattern in one.rule.causes)
    return broad and any(traceback.error < one.first for traceback in strangers)
