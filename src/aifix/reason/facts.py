"""Facts of a candidate: captures of its hits, values that its rule collects around them, and what is derived from both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aifix.match.captures import MAX_TEXT, parse
from aifix.match.fuzzy import reread
from aifix.match.regex import PatternError, compile_pattern
from aifix.match.search import searcher
from aifix.model import Collector, Document, Fact, Rule
from aifix.reason import expressions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.reason.candidate import Candidate
    from aifix.reason.scope import Scope

FEW = 400
"""Lines up to which looking at each is quicker than a search over the whole document."""
ANCHORS = 4
"""Hits around which further facts are looked for."""
REREAD = 4
"""Hit lines that are read again as mistyped."""
_WORDS = frozenset({"name", "path", "word", "version", "address", "dtype", "device"})


def fact(kind: str, text: str) -> Fact:
    """Make a fact of a captured text; the full stop of the sentence around it is no part of a name, path or version."""
    text = text[:MAX_TEXT]
    if kind in _WORDS:
        text = text.rstrip(".,;:") or text
    value, unit = parse(kind, text)
    return Fact(text, value, unit)


def capture(candidate: Candidate) -> None:
    """Take the facts out of a candidate's hits; the first hit that names a fact wins, a root wording before a symptom's."""
    for hit in sorted(candidate.hits, key=lambda hit: (not candidate.is_root(hit), hit.line)):
        types = candidate.origin.signatures[hit.signature].types
        for name, text in hit.captures.items():
            if name not in candidate.facts and text:
                candidate.facts[name] = fact(types[name], text)


def collect(candidate: Candidate, document: Document, collectors: tuple[Collector, ...]) -> None:
    """Look for further facts around the first hit, then around the next ones: a warning far above may have hit first."""
    anchors = sorted({hit.line for hit in candidate.hits if candidate.is_root(hit)})[:ANCHORS] or [candidate.first]
    for collector in collectors:
        if all(name in candidate.facts for name in collector.types):
            continue
        try:
            expression = compile_pattern(collector.pattern)
        except PatternError:
            continue
        for index in _places(document, anchors, collector):
            found = expression.search(document.lines[index].text)
            if found is None:
                continue
            fresh = {name: text.strip() for name, text in found.groupdict().items() if text and name not in candidate.facts}
            for name, text in fresh.items():
                candidate.facts[name] = fact(collector.types[name], text)
            if fresh and index not in candidate.support and index not in candidate.lines:
                candidate.support.append(index)
            break
        else:
            _reread(candidate, document, collector)


def _reread(candidate: Candidate, document: Document, collector: Collector) -> None:
    """Look into the hit lines once more, as mistyped: a message with one wrong letter still has its numbers."""
    for index in sorted(candidate.lines)[:REREAD]:
        found = {name: text for name, text in reread(collector.pattern, document.lines[index].text).items() if name not in candidate.facts}
        if {*found.values()} <= {known.text for known in candidate.facts.values()}:
            continue  # a pattern of nearly this wording has read it already, under its own name
        for name, text in found.items():
            candidate.facts[name] = fact(collector.types[name], text)
        if found:
            return


def _places(document: Document, anchors: Sequence[int], collector: Collector) -> list[int]:
    """Give the lines in the order in which a collector looks at them; in a long document only those on which its pattern stands."""
    total = len(document.lines)
    within = total if collector.within is None else collector.within
    spans = [range(max(0, anchor - within), min(total, anchor + within + 1)) for anchor in anchors]
    stands = searcher(document).lines(collector.pattern) if len(set().union(*spans)) > FEW else None
    places: dict[int, None] = {}
    for anchor, span in zip(anchors, spans, strict=True):
        found = span if stands is None else [index for index in stands if index in span]
        places.update(dict.fromkeys(_ordered(found, anchor, collector.pick)))
    return list(places)


def _ordered(indices: Sequence[int], anchor: int, pick: str) -> Sequence[int]:
    """Put ascending lines into the order that a collector picks from: the first, the last, or else the nearest first."""
    if pick == "first":
        return indices
    if pick == "last":
        return indices[::-1]
    return sorted(indices, key=lambda index: (abs(index - anchor), index < anchor))


def derive(candidate: Candidate, rule: Rule, scope: Scope) -> None:
    """Compute a rule's derived facts, in order; those with unknown names are skipped."""
    for derived in rule.facts:
        if derived.name in candidate.facts:
            continue
        try:
            value = scope.evaluate(derived.expression)
        except expressions.UnknownNameError:
            continue
        if value is None:
            continue
        candidate.facts[derived.name] = _derived_fact(derived.type, value)


def _derived_fact(kind: str, value: Any) -> Fact:
    if kind == "bytes" and isinstance(value, (int, float)):
        return Fact(expressions.size(value), round(value), "bytes")
    if kind == "seconds" and isinstance(value, (int, float)):
        return Fact(expressions.duration(value), value, "seconds")
    if isinstance(value, float):
        return Fact(f"{value:.4g}", value)
    if isinstance(value, (int, bool)):
        return Fact(str(value), value)
    if isinstance(value, (list, tuple)):
        return Fact("[" + ", ".join(map(str, value)) + "]", list(value), "shape" if kind == "shape" else None)
    if isinstance(value, expressions.Version):
        return Fact(value.text, value.text, "version")
    text = str(value)[:MAX_TEXT]
    return Fact(text, text, "version" if kind == "version" else None)
