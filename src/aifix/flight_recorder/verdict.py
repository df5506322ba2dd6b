"""From dumps to a verdict: the findings in the order of cause and effect, and the diagnoses that the rule base knows for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from aifix.conclusion.of_state import from_state, number
from aifix.flight_recorder import groups, words
from aifix.flight_recorder.compare import Finding, Side, compare
from aifix.flight_recorder.groups import Group
from aifix.flight_recorder.load import Load, Skipped
from aifix.flight_recorder.peers import compare_peers
from aifix.model import Diagnosis, Evidence, Fact, Location

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aifix.flight_recorder.dump import Call
    from aifix.model import Rule

DESYNC = frozenset({"type", "size", "dtype", "unmatched", "peer-size"})
CONFIDENCE = {
    "type": 0.97,
    "size": 0.95,
    "dtype": 0.95,
    "unmatched": 0.85,
    "peer-size": 0.93,
    "not-joined": 0.9,
    "no-dump": 0.6,
    "state": 0.7,
    "stuck": 0.75,
}
"""How often each kind of finding is the failure itself, not a trace of one that the dumps do not show; from how direct the proof is, not counted."""


class Rank(msgspec.Struct, frozen=True):
    """One rank's dump in short."""

    rank: int
    file: str
    version: str
    library: str
    calls: int
    wrapped: bool
    last: str
    place: str


class Flight(msgspec.Struct, frozen=True, kw_only=True):
    """What aifix says about a job's flight-recorder dumps; `aifix.flight/1` as JSON."""

    schema: str = "aifix.flight/1"
    source: str
    failed: bool
    ranks: tuple[Rank, ...]
    missing: tuple[int, ...]
    """Members of some group that left no dump."""
    groups: tuple[Group, ...]
    findings: tuple[Finding, ...]
    diagnoses: tuple[Diagnosis, ...]
    skipped: tuple[Skipped, ...] = ()


def judge(loaded: Load, rules: Mapping[str, Rule], *, source: str) -> Flight:
    """Compare all ranks' dumps.

    Args:
        loaded: the dumps.
        rules: the base, for explanations and fixes.
        source: the folder or file that was named, for the report.

    """
    dumps = loaded.dumps
    lasts: dict[int, Call | None] = {dump.rank: dump.calls[-1] if dump.calls else None for dump in dumps}
    sorted_groups = groups.sort(dumps)
    found: list[Finding] = []
    for group, calls in sorted_groups:
        first = compare(group, calls, lasts)
        if first is not None:
            found.append(first)
        found += compare_peers(group, calls, lasts)
    found = _ordered(found)
    failed = any(finding.failed for finding in found)
    missing = sorted({rank for group, _ in sorted_groups for rank in group.missing})
    return Flight(
        source=source,
        failed=failed,
        ranks=tuple(_rank(dump.rank, loaded) for dump in dumps),
        missing=tuple(missing),
        groups=tuple(group for group, _ in sorted_groups),
        findings=tuple(found),
        diagnoses=tuple(_diagnoses(found, rules)),
        skipped=loaded.skipped,
    )


def _rank(rank: int, loaded: Load) -> Rank:
    dump = next(dump for dump in loaded.dumps if dump.rank == rank)
    last = dump.calls[-1] if dump.calls else None
    return Rank(
        rank,
        dump.file,
        dump.version,
        dump.library,
        len(dump.calls),
        dump.wrapped,
        f"{words.call_words(last)}, {words.state_words(last)}" if last is not None else "",
        words.place(last),
    )


def _ordered(found: list[Finding]) -> list[Finding]:
    """Put causes before what follows from them: a rank that never came to one group's call because it waits in another group's."""
    order = sorted(found, key=lambda finding: (not finding.failed, finding.created, finding.sequence))
    causes: dict[int, int] = {}
    for at, finding in enumerate(order):
        if finding.kind not in {"not-joined", "unmatched"}:
            continue
        for side in finding.sides:
            if side.call is None and side.last is not None:
                cause = next((other for other, one in enumerate(order) if other != at and _holds(one, side.rank, side.last)), None)
                if cause is not None and not _leads_to(causes, cause, at):
                    causes[at] = cause
                    break
    roots = [at for at in range(len(order)) if at not in causes]
    places = roots + [at for at in range(len(order)) if at in causes]
    return [
        msgspec.structs.replace(
            order[at],
            caused_by=places.index(causes[at]) if at in causes else None,
            title=words.title(order[at]),
            explanation=words.explanation(order[at]),
        )
        for at in places
    ]


def _holds(finding: Finding, rank: int, last: Call) -> bool:
    """Tell whether a rank's last call is the one that a finding is about."""
    return any(side.rank == rank and side.call is not None and side.call.record == last.record for side in finding.sides)


def _leads_to(causes: Mapping[int, int], start: int, goal: int) -> bool:
    seen: set[int] = set()
    while start in causes and start not in seen:
        seen.add(start)
        start = causes[start]
        if start == goal:
            return True
    return start == goal


def _diagnoses(found: Sequence[Finding], rules: Mapping[str, Rule]) -> list[Diagnosis]:
    diagnoses: list[Diagnosis] = []
    ids = [_rule_id(finding) for finding in found]
    for finding, rule_id in zip(found, ids, strict=True):
        if not finding.failed:
            continue
        cause = ids[finding.caused_by] if finding.caused_by is not None else None
        diagnosis = from_state(
            rules,
            rule_id,
            _facts(finding, rule_id),
            confidence=CONFIDENCE[finding.kind] if cause is None else min(CONFIDENCE[finding.kind], 0.6),
            how=f"flight recorder: {finding.kind}",
            evidence=_evidence(finding),
            location=_location(finding),
            ranks=finding.culprits,
            told=f"{finding.title}. {finding.explanation}".strip(),
            caused_by=cause,
        )
        if diagnosis is not None:
            diagnoses.append(diagnosis)
    return diagnoses


def _rule_id(finding: Finding) -> str:
    """Choose the rule: ranks on different paths, or a rank that merely did not arrive."""
    backend = next((side.call.backend for side in finding.sides if side.call is not None), "")
    if finding.kind in DESYNC or (finding.kind == "not-joined" and (finding.parting is not None or backend == "gloo")):
        return "dist.desync"
    return "dist.gloo" if backend == "gloo" else "dist.nccl-timeout"


def _facts(finding: Finding, rule_id: str) -> dict[str, Fact]:
    """Give what the dumps say under the names by which the rules of logs ask."""
    facts = {"group": Fact(finding.group.title, finding.group.title)}
    there = [side for side in finding.sides if side.call is not None]
    if finding.kind in DESYNC:
        odd = next((side for side in there if side.rank in finding.culprits), there[-1] if there else None)
        even = next((side for side in there if side.rank not in finding.culprits and side is not odd), None)
        for name, side in (("first_rank", odd), ("other_rank", even)):
            if side is not None:
                facts[name] = number(side.rank)
        for name, side in (("op_type", odd), ("other_op_type", even)):
            if side is not None and side.call is not None:
                facts[name] = Fact(words.call_words(side.call), side.call.operation)
        return facts
    facts["seq_num"] = number(finding.sequence)
    if rule_id == "dist.desync":  # its texts about a waiting rank are those of a watchdog's log
        return facts
    facts["op_type"] = Fact(finding.operation, finding.operation)
    if there:
        facts["waiting_rank"] = number(there[0].rank)
        call = there[0].call
        if call is not None and call.timeout is not None:
            facts["timeout_ms"] = number(call.timeout)
            facts["timeout"] = number(call.timeout / 1000, "seconds", f"{call.timeout / 1000:g} s")
    return facts


def _evidence(finding: Finding) -> tuple[Evidence, ...]:
    """Cite each side's record by its number in the rank's own dump."""
    cited = []
    for side in _shown(finding):
        call = side.call or side.last
        where = words.place(call)
        cited.append(
            Evidence(call.record if call is not None else 0, f"rank {side.rank}: {words.side_words(side)}" + (f", at {where}" if where else ""))
        )
    return tuple(cited)


SHOWN = 8


def _shown(finding: Finding) -> list[Side]:
    culprits = [side for side in finding.sides if side.rank in finding.culprits]
    others = [side for side in finding.sides if side.rank not in finding.culprits]
    return sorted((culprits + others)[:SHOWN], key=lambda side: side.rank)


def _location(finding: Finding) -> Location | None:
    """Give the line of the rank to blame: where it came from last; else that of a rank which waits."""
    sides = [side for side in finding.sides if side.rank in finding.culprits] or list(finding.sides)
    for side in [*sides, *finding.sides]:
        call = side.call or side.last
        frame = call.place if call is not None else None
        if frame is not None and frame.user:
            return Location(frame.file, frame.line, frame.function)
    return None
