"""From the logs of a job to what they say together."""

from __future__ import annotations

import datetime as dt
import os
from typing import TYPE_CHECKING

from aifix.intake import document as intake
from aifix.intake import packed, tracebacks
from aifix.match.keeper import Keeper
from aifix.model import Document
from aifix.ranklogs import streams
from aifix.ranklogs.advice import advice
from aifix.ranklogs.gather import gather
from aifix.ranklogs.judge import deaths_by_rank, judge, missing_of
from aifix.ranklogs.nouns import Rank, RanksReport, Skew, Straggler, Verdict
from aifix.ranklogs.progress import stragglers
from aifix.ranklogs.reading import record_of, tail_of
from aifix.supervise.words import duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from aifix.model import Report
    from aifix.ranklogs.gather import Draft, Job
    from aifix.ranklogs.judge import Judgement
    from aifix.ranklogs.nouns import Death, Measure, Role
    from aifix.rulebase.base import Base

BEFORE = 200
"""Lines before a rank's error that are diagnosed with it."""
SILENT = 2.0
"""Seconds before the others' end from which on a rank without an error is called silent."""


def ranks(
    paths: str | Path | Iterable[str | Path],
    *,
    base: Base | None = None,
    attempt: int | None = None,
    jobs: int | None = None,
) -> RanksReport:
    """Read the logs that the ranks of a job left behind, and say who failed first and why.

    Args:
        paths: folders and files: torchrun's --log-dir, Slurm's or Kubernetes' files, one file a rank, or one file of all.
        base: the rules to use; the built-in and the user's by default.
        attempt: which start of a restarted job; the last one by default.
        jobs: how many processes read; as many as there are processors by default.

    Raises:
        OSError: a path that does not exist or cannot be read.
        ValueError: no log there, or no such attempt.

    """
    from aifix import api

    rules = base or api.rule_base()
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    job = gather([os.fspath(path) for path in given], rules, attempt=attempt, jobs=jobs)
    if not job.drafts and not job.deaths:
        msg = f"no line of {', '.join(job.sources)} says of which rank it is; `aifix diagnose FILE` reads the log of one program"
        raise ValueError(msg)
    found = judge(job)
    missing = missing_of(job)
    ends = deaths_by_rank(job)
    last = _end(job)
    states = tuple(_state(draft, found, ends.get(draft.rank), last) for draft in job.drafts)
    own = _report(job, found, rules)
    starts = [state.first for state in states if state.first is not None]
    return RanksReport(
        sources=job.sources,
        layout=job.layout,
        files=job.files,
        bytes=job.bytes,
        failed=found.kind != "healthy",
        verdict=Verdict(
            found.kind, found.ranks, found.title, found.certainty, found.why, advice(found, diagnosed=own is not None, gloo=_gloo(job)), own
        ),
        world=job.world if job.world is not None else (max((draft.rank for draft in job.drafts), default=-1) + 1 or None),
        ranks=states,
        missing=missing,
        stragglers=(*_slow(job.drafts, "step"), *_slow(job.drafts, "data")),
        skews=tuple(Skew(name, round(seconds, 3), events) for name, (seconds, events) in sorted(job.skews.items())),
        start=min(starts, default=None),
        end=last,
        clock="log" if job.timed else "file" if last is not None else "none",
        shared=job.shared,
        attempts=job.attempts,
        notes=job.notes,
    )


def _gloo(job: Job) -> bool:
    """Tell whether the ranks' errors speak of gloo, and none of NCCL."""
    said = " ".join(f"{draft.error.id} {draft.error.text}" for draft in job.drafts if draft.error is not None).lower()
    return "gloo" in said and "nccl" not in said


def _end(job: Job) -> float | None:
    """Give the time of the last word of any rank; by the files' own times where no line names one."""
    lasts = [draft.last for draft in job.drafts if draft.last is not None]
    if lasts:
        return max(lasts)
    return max((moment for draft in job.drafts if (moment := _modified(draft)) is not None), default=None)


def _modified(draft: Draft) -> float | None:
    """Give when a rank's files were last written to; nothing for a file that others write to as well."""
    return max((one.modified for one in draft.readings if one.modified is not None and not one.shared and one.bytes), default=None)


def _state(draft: Draft, found: Judgement, death: Death | None, end: float | None) -> Rank:
    last = draft.last if draft.last is not None else _modified(draft)
    silence = end - last if end is not None and last is not None else None
    role, detail = _role(draft, found, death, silence)
    figures = [(one.step_seconds, one.data_seconds) for one in draft.readings]
    return Rank(
        rank=draft.rank,
        name=draft.name,
        node=draft.node or (death.node if death is not None else ""),
        role=role,
        detail=detail,
        files=tuple(dict.fromkeys(one.named.path for one in draft.readings)),
        bytes=sum(one.bytes for one in draft.readings),
        lines=sum(one.lines for one in draft.readings),
        first=draft.first,
        last=last,
        silence=None if silence is None else round(max(silence, 0.0), 3),
        step=draft.step,
        step_seconds=next((step for step, _ in figures if step is not None), None),
        data_seconds=next((data for _, data in figures if data is not None), None),
        collective=draft.main.collective,
        complaint=draft.main.complaint,
        error=draft.error,
        exit_status=death.status if death is not None else None,
    )


_FIRST = {
    "failed": "failed first",
    "killed": "was killed",
    "vanished": "ended without a word",
    "frozen": "fell silent",
    "diverged": "parted from the others",
    "left-early": "ended too early",
    "missing": "left no log",
}


def _role(draft: Draft, found: Judgement, death: Death | None, silence: float | None) -> tuple[Role, str]:
    """Say what part a rank had."""
    quiet = ""
    if silence is not None and silence >= SILENT and draft.complaint in {"none", "ended"}:
        since = f" from {_clock(draft.last)} on," if draft.last is not None else ""
        quiet = f", silent{since} for the last {duration(silence)}"
    if draft.rank in found.ranks:
        said = draft.error.title if draft.error is not None and found.kind == "failed" else ""
        place = _collective(draft) if found.kind == "diverged" else ""
        return "first", (said or _FIRST.get(found.kind, "")) + place + quiet
    if draft.complaint == "own":
        return "failed", draft.error.title if draft.error is not None else ""
    after = {
        "lost": "lost a peer",
        "waited": "waited in vain",
        "mismatch": "met another collective than its own",
        "ended": "was ended from outside",
    }.get(draft.complaint)
    if after:
        return "follower", after + _collective(draft)
    if draft.main.well:
        return "well", "ended well"
    if death is not None and death.status is not None and death.status in {-15, 143}:
        return "follower", "was ended by the launcher"
    if found.kind == "healthy":
        return "well", "no error"
    if quiet:
        return "silent", quiet.removeprefix(", ")
    return "unclear", "no error of its own"


def _collective(draft: Draft) -> str:
    found = draft.main.collective
    if found is None:
        return ""
    return (
        f" in {found.operation}" + (f" number {found.sequence}" if found.sequence is not None else "") + (f" at {found.place}" if found.place else "")
    )


def _clock(moment: float) -> str:
    return dt.datetime.fromtimestamp(moment, dt.timezone.utc).strftime("%H:%M:%S")


def _slow(drafts: Sequence[Draft], measure: Measure) -> list[Straggler]:
    figures = []
    for draft in drafts:
        for one in draft.readings:
            value = one.step_seconds if measure == "step" else one.data_seconds
            if value is not None:
                figures.append((draft.rank, value))
                break
    pace = stragglers(figures)
    return [Straggler(rank, measure, value, pace.typical) for rank, value in pace.slow] if pace is not None else []


def _report(job: Job, found: Judgement, base: Base) -> Report | None:
    """Diagnose the log of the first rank with all that `diagnose` does; the launchers' words where the rank itself is silent."""
    from aifix import api

    if not found.ranks:
        return None
    draft = next((one for one in job.drafts if one.rank == found.ranks[0]), None)
    if draft is not None and draft.complaint == "own" and draft.error is not None:
        return api.diagnose_document(_document(draft, base), base=base)
    if found.kind == "killed":
        speaking = next((one for one in job.others if one.deaths), None)
        if speaking is not None:
            report = api.diagnose_file(speaking.named.path, base=base)
            return report if report.failed else None
    return None


def _document(draft: Draft, base: Base) -> Document:
    """Read again what of the rank's log a diagnosis can need."""
    main = draft.main
    path = main.named.path
    if main.named.stream == "record":
        found = record_of(path)
        return intake.read((found[0] if found else "").encode(), source=path, genre="log")
    keeper = Keeper([core.encode() for core in base.matcher.cores])
    with packed.opened(path) as stream:
        while data := stream.read(1 << 20):
            keeper.feed(data)
    document = intake.read(keeper.blocks(), source=path, genre="log")
    if main.shared:
        lines = tuple(line for owner, part in streams.split(document.lines).items() if owner.rank == draft.rank for line in part)
        document = Document(lines, tuple(tracebacks.parse(lines)), "log", path, document.total_lines, document.truncated)
    tail = tail_of(document, draft.error.line - BEFORE if draft.error is not None else 0)
    return tail if _fails(tail, base) else document


def _fails(document: Document, base: Base) -> bool:
    """Tell whether a part of a log alone shows the failure."""
    from aifix import api

    return api.diagnose_document(document, base=base).failed
