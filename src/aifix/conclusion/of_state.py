"""Diagnoses from facts that no log told: dumps, snapshots and other records of a program's state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aifix.fixes.rank import rank as rank_fixes
from aifix.model import Diagnosis, Document, Evidence, Fact, Location, Match, Step
from aifix.reason import templates
from aifix.reason.candidate import Candidate
from aifix.reason.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aifix.model import Rule


def from_state(
    rules: Mapping[str, Rule],
    rule_id: str,
    facts: Mapping[str, Fact],
    *,
    confidence: float,
    how: str,
    evidence: Sequence[Evidence] = (),
    location: Location | None = None,
    ranks: Sequence[int] = (),
    told: str = "",
    caused_by: str | None = None,
) -> Diagnosis | None:
    """Make a rule's diagnosis of facts; None where the base has no such rule.

    Args:
        rules: the base.
        rule_id: the diagnosis.
        facts: what the state says, under the names by which the rule's texts and conditions ask for it.
        confidence: how sure, in 0..1.
        how: what recognised it, in place of a signature.
        evidence: what proves it.
        location: the user's line.
        ranks: whose state it is.
        told: what happened, before the rule's own explanation.
        caused_by: the id of the diagnosis that this one follows from.

    """
    rule = rules.get(rule_id) if hasattr(rules, "get") else None
    if rule is None:
        return None
    candidate = Candidate(rule, [])
    candidate.facts.update(facts)
    scope = Scope(candidate, Document(()), _no_catalogues)
    try:
        title = templates.line(rule.title, scope.show)
    except templates.MissingError:
        title = rule.id
    try:
        general = templates.prose(rule.explain, scope.show)
    except templates.MissingError:
        general = ""
    return Diagnosis(
        id=rule.id,
        title=title,
        severity=rule.severity,
        confidence=confidence,
        symptom=caused_by is not None,
        match=Match("exact", 1.0, how),
        evidence=tuple(evidence),
        facts=dict(facts),
        location=location,
        ranks=tuple(ranks),
        caused_by=caused_by,
        explanation="\n".join(part for part in (told, general) if part),
        fixes=rank_fixes(rule, scope),
        references=rule.references,
        transient=rule.transient,
        derivation=(Step("rule", f"{rule.id} ({rule.origin})"), Step("state", how)),
    )


def number(value: float, unit: str | None = None, text: str = "") -> Fact:
    """Make a fact of a number."""
    return Fact(text or str(value), value, unit)


def _no_catalogues() -> Mapping[str, Mapping[str, Any]]:
    return {}
