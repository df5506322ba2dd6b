"""From candidates to the report: order, confidence, texts, ranked fixes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aifix.fixes.rank import rank
from aifix.match.unexplained import unexplained
from aifix.model import Diagnosis, Document, Evidence, Fix, FixTemplate, Location, Match, Report, Rule, Step
from aifix.reason import causality, templates, unknown, verdicts
from aifix.reason.confidence import confidence
from aifix.reason.facts import derive
from aifix.reason.refine import Catalogues, candidates
from aifix.reason.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.match.exact import Hit
    from aifix.reason.candidate import Candidate
    from aifix.reason.experience import Chance, Experience

Examine = Callable[["list[Candidate]", Document, Catalogues], None]
Gather = Callable[["Candidate", Document], None]
EVIDENCE = 8
"""Lines cited for one diagnosis."""


def conclude(
    document: Document,
    hits: list[Hit],
    rules: Mapping[str, Rule],
    catalogues: Catalogues,
    *,
    locate: Any = None,
    examine: Examine | None = None,
    gather: Gather | None = None,
    experience: Experience | None = None,
) -> Report:
    """Reason from the matcher's hits to a report.

    Args:
        document: the cleaned input.
        hits: signatures that matched.
        rules: the base.
        catalogues: gives the vendor tables.
        locate: gives the user's frame of a traceback (the intake room's), or None.
        examine: lets this machine answer the candidates' suspicions; None when nobody is to look.
        gather: reads the failing source and the command line for a candidate; None when they are not to be read.
        experience: what earlier incidents taught about fixes; None when nobody remembers.

    """
    if document.genre != "log":
        hits = _within_tracebacks(document, hits)
    found = causality.drop_vaguer(candidates(hits, document, rules, catalogues))
    errors = [one for one in found if not one.warning]
    strangers = unexplained(document, {line for one in errors for line in one.lines})
    causality.link(found)
    errors = [one for one in errors if not causality.yields_to_unknown(one, strangers)]
    # A cause that itself gave way to an unknown error explains nothing.
    errors = [one for one in errors if one.cause is None or one.cause in errors or not causality.yields_to_unknown(one.cause, strangers)]
    warnings = [one for one in found if one.warning]
    stranger = None if errors else unknown.unknown(document, strangers, _location_of(document, strangers, locate))
    if not errors and stranger is not None and not strangers and warnings:
        # The run failed without a traceback of its own, and nothing but survived messages was recognised: the surest of them explains it.
        errors, warnings, stranger = warnings, [], None
    ordered = causality.order(errors)
    if gather is not None:
        for one in (*ordered, *warnings):
            gather(one, document)
            derive(one, one.rule, Scope(one, document, catalogues))
    if examine is not None and ordered:
        examine(ordered, document, catalogues)
        ordered = verdicts.demoted(ordered)
    roots = [one for one in ordered if one.cause is None and not one.symptom]
    diagnoses = [_diagnosis(one, roots, document, catalogues, _locator(one, found, locate), experience=experience) for one in ordered]
    head, tail = diagnoses[:1], diagnoses[1:]
    tail.sort(key=lambda item: (item.symptom or item.caused_by is not None, -item.confidence))
    return Report(
        source=document.source,
        failed=bool(diagnoses) or stranger is not None,
        diagnoses=tuple(head + tail),
        unknown=stranger,
        hints=tuple(_diagnosis(one, [], document, catalogues, _locator(one, found, locate)) for one in causality.order(warnings)),
    )


def _asks(template: FixTemplate) -> bool:
    """Tell whether a fix depends on what probes say."""
    return "probe" in template.when or "{probe" in template.title or any("probe" in item.when for item in template.given)


def _given(rule: Rule, scope: Scope) -> list[Step]:
    """Name the conditions that moved the chances of fixes."""
    return [
        Step("fixes", f"{fix.id}: {item.when} holds: odds x {item.odds:g}")
        for fix in rule.fixes
        for item in fix.given
        if scope.holds(item.when) and (not fix.when or scope.holds(fix.when))
    ]


def _without_verdicts(one: Candidate, document: Document, catalogues: Catalogues, learned: Mapping[str, Chance]) -> tuple[Fix, ...]:
    """Rank the fixes as if nobody had looked at this machine."""
    looked, one.probes = one.probes, []
    try:
        return rank(one.rule, Scope(one, document, catalogues), learned)
    finally:
        one.probes = looked


def _within_tracebacks(document: Document, hits: list[Hit]) -> list[Hit]:
    """Keep the hits on messages of real tracebacks: in a document that quotes errors nothing else was uttered."""
    uttered: set[int] = set()
    for traceback in document.tracebacks:
        if len(traceback.frames) > 0:
            uttered.update(range(traceback.start, traceback.end))
    return [hit for hit in hits if hit.line in uttered]


def _locator(one: Candidate, found: list[Candidate], locate: Any) -> Any:
    """Bind the locator to the lines that other candidates claim: their tracebacks are not this one's place."""
    if locate is None:
        return None
    others = {line for other in found if other is not one for line in other.lines} - one.lines

    def bound(document: Document, index: int) -> Location | None:
        place: Location | None = locate(document, index, others)
        return place

    return bound


def _location_of(document: Document, strangers: list[Any], locate: Any) -> Location | None:
    return locate(document, unknown.told_by(strangers).error) if strangers and locate else None


def _diagnosis(
    one: Candidate, roots: list[Candidate], document: Document, catalogues: Catalogues, locate: Any, *, experience: Experience | None = None
) -> Diagnosis:
    scope = Scope(one, document, catalogues)
    value, steps = confidence(one, roots)
    lead = min((hit for hit in one.hits if one.is_root(hit)), key=lambda hit: (hit.survived, hit.line), default=one.hits[0])
    signature = one.origin.signatures[lead.signature]
    learned = experience.chances(one.rule) if experience is not None else {}
    fixes = rank(one.rule, scope, learned)
    if one.probes and any(_asks(template) for template in one.rule.fixes):
        steps = [*steps, *_given(one.rule, scope), *verdicts.fixes_moved(_without_verdicts(one, document, catalogues, learned), fixes)]
    return Diagnosis(
        id=one.id,
        title=_title(one.rule, scope),
        severity=one.rule.severity,
        confidence=value,
        symptom=one.symptom or one.cause is not None,
        match=Match(lead.kind, round(lead.score, 3), signature.source),
        evidence=_evidence(one, document),
        facts=dict(one.facts),
        location=locate(document, lead.line) if locate else None,
        ranks=one.ranks(document),
        caused_by=one.cause.id if one.cause else None,
        explanation=templates.prose(one.rule.explain, scope.show),
        probes=tuple(one.probes),
        fixes=fixes,
        references=one.rule.references,
        count=len(one.lines),
        transient=one.rule.transient,
        derivation=(
            Step("rule", f"{one.rule.id} ({one.rule.origin})" + (f", refined from {one.origin.id}" if one.origin.id != one.rule.id else "")),
            Step("signature", f"{signature.source}" + (f"   [{signature.covers}]" if signature.covers else "")),
            *one.steps,
            *steps,
            *(Step("history", f"{fix.id} {learned[fix.id].told}") for fix in fixes if fix.id in learned),
        ),
    )


def _title(rule: Rule, scope: Scope) -> str:
    try:
        return templates.line(rule.title, scope.show)
    except templates.MissingError:
        return rule.id


def _evidence(one: Candidate, document: Document) -> tuple[Evidence, ...]:
    """Cite the lines that prove it: each wording once, root wordings first, then what was collected around."""
    chosen: list[int] = []
    texts: set[str] = set()
    for hit in sorted(one.hits, key=lambda hit: (not one.is_root(hit), hit.line)):
        text = document.lines[hit.line].text
        if hit.line not in chosen and text not in texts and len(chosen) < EVIDENCE:
            chosen.append(hit.line)
            texts.add(text)
    for line in one.support:
        text = document.lines[line].text
        if line not in chosen and text not in texts and len(chosen) < EVIDENCE + 4:
            chosen.append(line)
            texts.add(text)
    return tuple(Evidence(document.lines[line].number, document.lines[line].text) for line in sorted(chosen))
