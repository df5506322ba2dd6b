"""Let the machine answer a report's suspicions: run the probes that the diagnoses name, and weigh their verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.model import ProbeResult
from aifix.probes import registry, run
from aifix.probes.finding import Case, Finding, not_run
from aifix.probes.machine import Machine
from aifix.probes.target import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Document, ProbeUse
    from aifix.probes.pipeline import Written
    from aifix.probes.probing import Probing
    from aifix.probes.target import Target
    from aifix.reason.candidate import Candidate
    from aifix.reason.refine import Catalogues

CASES = 6
"""Diagnoses of one report that are looked into, the first ones."""


def examine(candidates: Sequence[Candidate], document: Document, catalogues: Catalogues, probing: Probing) -> None:
    """Run the passive probes that the candidates name, all within one time, and hang the results on the candidates."""
    chosen = [one for one in candidates if one.rule.probes][:CASES]
    if not chosen:
        return
    files = [frame.file for traceback in document.tracebacks for frame in traceback.frames]
    target = find(python=probing.python, producers=probing.producers, files=files, local=probing.local, written=_written(probing))
    machine = Machine(target, catalogues=catalogues)
    asked: list[tuple[Candidate, ProbeUse, Finding | int]] = []
    passive: list[tuple[registry.Probe, Case]] = []
    for one in chosen:
        lines = tuple(document.lines[index].text for index in sorted(one.lines)[:8])
        for use in one.rule.probes:
            probe = registry.BY_ID.get(use.id)
            if probe is None:
                continue
            if probe.active:
                asked.append((one, use, not_run(f"it runs something: aifix probe {probe.id}" + (f" {probe.needs} ..." if probe.needs else ""))))
                continue
            asked.append((one, use, len(passive)))
            passive.append((probe, Case(machine, one.id, one.facts, lines=lines)))
    answers = run.passive(passive, probing.limit, probing.follower)
    for one, use, answer in asked:
        finding = answers[answer] if isinstance(answer, int) else answer
        if finding.status == "not-available" and target.origin == "elsewhere":
            continue  # what this machine lacks says nothing about another one
        one.probes.append(_weigh(use, finding, target))


def _written(probing: Probing) -> Written | None:
    """Read how our pipeline was written, where its members were gone before anyone saw a Python among them."""
    if not probing.piped or any("python" in producer.exe for producer in probing.producers):
        return None
    from aifix.probes.pipeline import above

    return above()


def _weigh(use: ProbeUse, finding: Finding, target: Target) -> ProbeResult:
    """Turn a finding into a result with its likelihood ratio; of a log from another machine it moves nothing."""
    ratio = {"confirmed": use.confirmed, "refuted": use.refuted}.get(finding.status, 1.0)
    summary = finding.summary
    if ratio != 1 and target.origin != "here":
        ratio = 1.0 if target.origin == "elsewhere" else round(ratio**0.5, 3)
    if target.guessed and use.id.startswith(("deps.python", "torch.")):
        ratio = round(ratio**0.5, 3)  # the failed run may have used another interpreter
        summary = f"{summary} ({target.how})"
    if target.origin != "here" and finding.status in {"confirmed", "refuted", "inconclusive"}:
        why = "the log seems to come from another machine" if target.origin == "elsewhere" else "the log may be older, or from another machine"
        summary = f"{summary} (this machine, now; {why})"
    data = dict(finding.data)
    if target.origin == "elsewhere":
        data["elsewhere"] = True  # fixes are not chosen by it either
    if finding.evidence:
        data["evidence"] = list(finding.evidence)
    if use.id.startswith(("deps.python", "torch.")) and target.known:
        data["target"] = target.name
    return ProbeResult(use.id, finding.status, summary, data, ratio)
