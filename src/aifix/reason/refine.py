"""From hits to candidates: context conditions of signatures, facts, and the most specific id that they select."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from aifix.model import Document, Rule, Step
from aifix.reason import facts as facts_of
from aifix.reason import surroundings
from aifix.reason.candidate import Candidate
from aifix.reason.scope import Scope

if TYPE_CHECKING:
    from aifix.match.exact import Hit

Catalogues = Callable[[], Mapping[str, Mapping[str, Any]]]
MAX_REFINEMENTS = 5
"""Steps from a general id to the most specific one; more is a circle."""


def candidates(hits: list[Hit], document: Document, rules: Mapping[str, Rule], catalogues: Catalogues) -> list[Candidate]:
    """Group hits by rule, keep those whose context fits, gather facts and refine.

    Args:
        hits: what the matcher found, its context conditions checked.
        document: the cleaned input.
        rules: the base.
        catalogues: gives the vendor tables.

    Returns:
        One candidate an id, in the order of their first lines.

    """
    grouped: dict[str, list[Hit]] = defaultdict(list)
    likened: set[int] = set()
    for hit in hits:
        if hit.kind == "fuzzy":
            if hit.line in likened:
                continue  # the fuzzy stage names rivals best first; the first one whose context fits has the line
            likened.add(hit.line)
        grouped[hit.rule].append(hit)
    found: dict[str, Candidate] = {}
    for rule_id, listed in grouped.items():
        candidate = Candidate(rules[rule_id], listed)
        _measure(candidate)
        facts_of.capture(candidate)
        facts_of.collect(candidate, document, candidate.rule.collect)
        surroundings.read(candidate, document)
        scope = Scope(candidate, document, catalogues)
        facts_of.derive(candidate, candidate.rule, scope)
        _refine(candidate, document, rules, scope)
        known = found.get(candidate.id)
        found[candidate.id] = candidate if known is None else _merge(known, candidate)
    return sorted(found.values(), key=lambda candidate: candidate.first)


def _measure(candidate: Candidate) -> None:
    """Take the strength from the surest wording that matched, in the role of a root where there is one."""
    roots = [hit for hit in candidate.hits if candidate.is_root(hit)] or candidate.hits
    signatures = candidate.origin.signatures
    candidate.strength = max(signatures[hit.signature].strength * (hit.score if hit.kind == "fuzzy" else 1.0) for hit in roots)
    candidate.span = max(hit.span for hit in roots)


def _refine(candidate: Candidate, document: Document, rules: Mapping[str, Rule], scope: Scope) -> None:
    for _ in range(MAX_REFINEMENTS):
        for refinement in candidate.rule.refine:
            held = scope.holds(refinement.when)
            candidate.steps.append(Step("condition", f"{refinement.to} when {refinement.when}: {'holds' if held else 'does not hold'}"))
            if held and refinement.to in rules:
                candidate.rule = rules[refinement.to]
                facts_of.collect(candidate, document, candidate.rule.collect)
                facts_of.derive(candidate, candidate.rule, scope)
                break
        else:
            return


def _merge(one: Candidate, other: Candidate) -> Candidate:
    """Join two candidates that came to the same id; the one whose own signatures matched leads."""
    lead, rest = (one, other) if one.origin.id == one.id else (other, one)
    if lead.origin.id != rest.origin.id:
        lead.support += [line for line in sorted(rest.lines | set(rest.support)) if line not in lead.lines and line not in lead.support]
    for name, fact in rest.facts.items():
        lead.facts.setdefault(name, fact)
    lead.steps += rest.steps
    lead.strength = max(lead.strength, rest.strength)
    lead.span = max(lead.span, rest.span)
    return lead
