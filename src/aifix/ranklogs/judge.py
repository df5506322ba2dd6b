"""Who failed first, and how: from what each rank said last, what launchers say, and who is missing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from aifix.show.layout import name_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.ranklogs.gather import Draft, Job
    from aifix.ranklogs.nouns import Certainty, Death, Kind

TOGETHER = 2.0
"""Seconds within which the order of two errors on different machines proves nothing."""
SIGTERM = 15
_NAMES = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ"}


class Judgement(NamedTuple):
    """How it began, on which ranks, how sure that is, and why."""

    kind: Kind
    ranks: tuple[int, ...]
    title: str
    certainty: Certainty
    why: tuple[str, ...]


def judge(job: Job) -> Judgement:
    """Say who failed first. What a rank says of itself goes before what others say of it."""
    drafts = {draft.rank: draft for draft in job.drafts}
    ends = deaths_by_rank(job)
    for ask in (_own, _by_signal, _mismatch, _absent, _lost_or_waited, _parted):
        found = ask(job, drafts, ends)
        if found is not None:
            return found
    if not any(draft.complaint != "none" for draft in job.drafts) and not ends:
        return Judgement("healthy", (), "No rank failed", "likely", ())
    return _open(drafts, ends)


def missing_of(job: Job) -> tuple[int, ...]:
    """Name the ranks that the world has and no log is of."""
    known = {draft.rank for draft in job.drafts}
    if not known:
        return ()
    size = max([job.world or 0, *(rank + 1 for rank in known)])
    return tuple(rank for rank in range(min(size, 1 << 20)) if rank not in known)


def deaths_by_rank(job: Job) -> dict[int, Death]:
    """Give the launchers' word on each rank's end; of several the first that it observed, else the first said."""
    found: dict[int, Death] = {}
    for death in job.deaths:
        rank = death.rank if death.rank is not None else death.local
        if rank is not None and (rank not in found or (death.first and not found[rank].first)):
            found[rank] = death
    return found


# ---------------------------------------------------------------- the questions, in order


def _own(job: Job, drafts: dict[int, Draft], ends: dict[int, Death]) -> Judgement | None:
    """An error that is a rank's own, and no consequence of what others did."""
    own = [draft for draft in job.drafts if draft.complaint == "own" and draft.error is not None]
    if not own:
        return None
    alike = len({draft.error.id for draft in own if draft.error}) == 1
    if len(own) == 1:
        rest = [draft.rank for draft in job.drafts if draft.complaint in {"lost", "waited", "mismatch"}]
        why = [f"rank {own[0].rank} alone ends with an error of its own"]
        if rest:
            why.append(f"{name_ranks(rest)} only {'tells' if len(rest) == 1 else 'tell'} of a peer that was lost or did not come")
        return _failed(own, "proven", why)
    timed = sorted((draft for draft in own if _moment(draft) is not None), key=lambda draft: _moment(draft) or 0.0)
    seen_first = next((rank for rank, death in ends.items() if death.first), None)
    if len(timed) == len(own):
        earliest = _moment(timed[0]) or 0.0
        first = [draft for draft in timed if (_moment(draft) or 0.0) - earliest < TOGETHER]
        if len(first) == 1:
            gap = (_moment(timed[1]) or 0.0) - earliest
            return _failed(first, "proven", [f"{len(own)} ranks end with errors of their own; this one came {gap:.1f} s before the next"])
        own = first
    if alike and len(own) >= max(2, (len(drafts) + 1) // 2):
        return _failed(own, "likely", [f"{name_ranks([draft.rank for draft in own])} end with the same error, together: it is not one rank's"])
    chosen = [draft for draft in own if draft.rank == seen_first]
    if chosen:
        return _failed(chosen, "likely", [f"of {len(own)} ranks with errors of their own the launcher saw rank {seen_first} fail first"])
    counts = Counter(draft.error.id for draft in own if draft.error)
    rarest = min(
        own, key=lambda draft: (counts[draft.error.id if draft.error else ""], draft.step if draft.step is not None else 1 << 60, draft.rank)
    )
    return _failed([rarest], "open", [f"{len(own)} ranks end with errors of their own, and no time tells which was first"])


def _failed(drafts: Sequence[Draft], certainty: Certainty, why: list[str]) -> Judgement:
    error = drafts[0].error
    title = error.title if error else "failed"
    ranks = tuple(draft.rank for draft in drafts)
    return Judgement("failed", ranks, f"{_said(ranks)} failed first: {title}", certainty, tuple(why))


def _by_signal(job: Job, drafts: dict[int, Draft], ends: dict[int, Death]) -> Judgement | None:
    """A rank that a signal ended, as the launcher says: not one that the launcher itself ended because of another.

    Nor one that had complained of a peer: it aborted because of that, be it by a watchdog or by a thread that was still at work.
    """
    del job
    followers = {rank for rank, draft in drafts.items() if draft.complaint in {"lost", "waited", "mismatch"}}
    struck = {
        rank: death
        for rank, death in ends.items()
        if death.status is not None and _signal(death) not in {0, SIGTERM} and not death.forced and rank not in followers
    }
    if any(not death.first for death in struck.values()) and any(death.first for death in struck.values()):
        struck = {rank: death for rank, death in struck.items() if death.first}
    waiting = [draft.rank for draft in drafts.values() if draft.complaint == "waited"]
    if waiting and not any(death.first for death in struck.values()):
        return None  # it may have been killed because it was stuck
    if not struck:
        return None
    ranks = tuple(sorted(struck))
    number = _signal(struck[ranks[0]])
    name = _NAMES.get(number, f"signal {number}")
    why = [f"the launcher says that {_said(ranks).lower()} ended by {name}" + (", the first failure that it saw" if struck[ranks[0]].first else "")]
    if all(rank in drafts and drafts[rank].complaint == "none" for rank in ranks):
        why.append("its own log just ends, without an error")
    return Judgement("killed", ranks, f"{_said(ranks)} was killed ({name})", "proven", tuple(why))


def _mismatch(job: Job, drafts: dict[int, Draft], ends: dict[int, Death]) -> Judgement | None:
    """Ranks that say that another collective arrived than theirs: who differs from the most."""
    told = [draft for draft in job.drafts if draft.complaint == "mismatch"]
    if not told:
        return None
    prints: dict[int, str] = {}
    for draft in job.drafts:
        for reading in draft.readings:
            prints.update({rank: text for rank, text in reading.fingerprints if rank not in prints or rank == draft.rank})
    calls = {rank: _without_sequence(text) for rank, text in prints.items()}
    odd = _odd(calls)
    if odd:
        rank = odd[0]
        most = Counter(calls.values()).most_common(1)[0][0]
        why = (f"rank {rank} ran {prints[rank]} while {name_ranks([other for other in calls if other not in odd])} ran {most}",)
        return Judgement("diverged", odd, f"{_said(odd)} called another collective than the others", "proven", why)
    return _parted(job, drafts, ends) or _mismatch_open(told)


def _mismatch_open(told: Sequence[Draft]) -> Judgement:
    ranks = tuple(draft.rank for draft in told)
    return Judgement("diverged", (), f"The ranks call different collectives ({name_ranks(ranks)} noticed)", "open", ())


def _absent(job: Job, drafts: dict[int, Draft], ends: dict[int, Death]) -> Judgement | None:
    """Ranks that a monitored barrier names as the ones that did not come."""
    del ends
    named = Counter(rank for draft in job.drafts for reading in draft.readings for rank in reading.named_absent)
    if not named:
        return None
    ranks = tuple(sorted(rank for rank in named if rank not in drafts or drafts[rank].complaint != "waited")) or tuple(sorted(named))
    quiet = [rank for rank in ranks if rank in drafts and drafts[rank].main.well]
    kind: Kind = "left-early" if quiet else "frozen" if all(rank not in drafts or drafts[rank].complaint == "none" for rank in ranks) else "diverged"
    verb = {
        "left-early": "ended while the others still needed it",
        "frozen": "stopped without a word",
        "diverged": "took another way than the others",
    }
    return Judgement(
        kind,
        ranks,
        f"{_said(ranks)} {verb[kind]}",
        "proven",
        (f"the barrier of the others names {_said(ranks).lower()} as the one that did not come",),
    )


def _lost_or_waited(job: Job, _drafts: dict[int, Draft], ends: dict[int, Death]) -> Judgement | None:
    """Ranks without a complaint, of which the others complain."""
    waited = [draft.rank for draft in job.drafts if draft.complaint == "waited"]
    lost = [draft.rank for draft in job.drafts if draft.complaint == "lost"]
    if not waited and not lost:
        return None
    quiet = [draft for draft in job.drafts if draft.complaint in {"none", "ended"}]
    absent = missing_of(job)
    if not quiet and absent:
        return _unheard(job, absent, ends, waited)
    if not quiet:
        return None
    ended_by_launcher = {draft.rank for draft in quiet if draft.complaint == "ended" or _ended(ends.get(draft.rank))}
    suspects = [draft for draft in quiet if draft.rank not in ended_by_launcher] or quiet
    forced = [draft for draft in suspects if draft.rank in ends and ends[draft.rank].forced]
    suspects = forced or suspects
    ahead = max((draft.step for draft in job.drafts if draft.complaint in {"lost", "waited"} and draft.step is not None), default=None)
    passed = _passed(job, ends)
    well = [
        draft
        for draft in suspects
        if draft.main.well or draft.rank in passed or (ahead is not None and draft.step is not None and draft.step > ahead)
    ]
    if well and not forced:
        return _left(well, waited, lost)
    suspects = _furthest_behind(suspects)
    ranks = tuple(draft.rank for draft in suspects)
    certainty: Certainty = "proven" if len(ranks) == 1 and forced else "likely" if len(ranks) == 1 else "open"
    why = [f"{'its log' if len(ranks) == 1 else 'their logs'} just {'ends' if len(ranks) == 1 else 'end'}, without an error"]
    if waited:
        why.append(f"{name_ranks(waited)} waited for it until the time was up" + (f", and {name_ranks(lost)} then lost a peer" if lost else ""))
        if forced:
            why.append("it did not react when the launcher asked it to end, and had to be killed")
        return Judgement(
            "frozen", ranks, f"{_said(ranks)} fell silent while the others waited for {'it' if len(ranks) == 1 else 'them'}", certainty, tuple(why)
        )
    why.append(f"{name_ranks(lost)} lost the connection to a peer")
    status = ends[ranks[0]].status if ranks[0] in ends else None
    if status is not None and 0 < status < 128:
        why.append(f"the launcher says that it ended with status {status}")
    return Judgement("vanished", ranks, f"{_said(ranks)} ended without a word", certainty, tuple(why))


def _unheard(job: Job, absent: tuple[int, ...], ends: dict[int, Death], waited: Sequence[int]) -> Judgement:
    """Ranks of which there is no log, or not one line in the file that all share, while every other one complains."""
    text = "waited for it in vain" if waited else "lost it"
    if not job.shared:
        return Judgement(
            "missing", absent, f"{_said(absent)} left no log, and its peers {text}", "likely", ("every rank with a log complains of another",)
        )
    passed = _passed(job, ends)
    if passed:
        why = ["the launcher lists every other rank as failed: it ended with status 0", f"its peers {text}: it called fewer collectives"]
        return Judgement("left-early", passed, f"{_said(passed)} ended while the others still needed it", "likely", tuple(why))
    forced = tuple(rank for rank in absent if rank in ends and ends[rank].forced)
    ranks = forced or absent
    why = ["the log holds no error of it, and every other rank complains of another" if len(ranks) == 1 else "the log holds no error of them"]
    if forced:
        why.append("it did not react when the launcher asked it to end, and had to be killed")
    kind: Kind = "frozen" if waited else "vanished"
    title = f"{_said(ranks)} fell silent, and its peers {text}" if waited else f"{_said(ranks)} ended without a word, and its peers {text}"
    return Judgement(kind, ranks, title, "proven" if forced else "likely" if len(ranks) == 1 else "open", tuple(why))


def _passed(job: Job, ends: dict[int, Death]) -> tuple[int, ...]:
    """Name the ranks that ended with status 0: launchers list those that failed, and here list all that complain."""
    complaining = [draft.rank for draft in job.drafts if draft.complaint in {"lost", "waited"}]
    if not ends or not complaining or not all(rank in ends for rank in complaining):
        return ()
    known = {draft.rank for draft in job.drafts}
    return tuple(rank for rank in sorted({*known, *missing_of(job)}) if rank not in ends)


def _left(well: Sequence[Draft], waited: Sequence[int], lost: Sequence[int]) -> Judgement:
    ranks = tuple(draft.rank for draft in well)
    others = sorted({*waited, *lost})
    why = (
        f"{'its log ends' if len(ranks) == 1 else 'their logs end'} well" + (f" at step {well[0].step}" if well[0].step is not None else ""),
        f"{name_ranks(others)} still waited in a collective: {'it' if len(ranks) == 1 else 'they'} called fewer of them",
    )
    return Judgement("left-early", ranks, f"{_said(ranks)} ended while the others still needed {'it' if len(ranks) == 1 else 'them'}", "likely", why)


def _parted(job: Job, drafts: dict[int, Draft], ends: dict[int, Death]) -> Judgement | None:
    """All complain of each other: the odd one out by the collective in which each was, or by its step."""
    del ends
    complaining = [draft for draft in job.drafts if draft.complaint in {"waited", "lost", "mismatch"}]
    if len(complaining) < 2:
        return None
    places = {draft.rank: _place(draft) for draft in complaining if draft.main.collective is not None}
    odd = _odd(places)
    by = "collective"
    if not odd:
        steps = {draft.rank: str(draft.step) for draft in complaining if draft.step is not None}
        odd, by = _odd(steps), "step"
    if not odd and len(set(places.values())) == 2 and len(places) == 2:
        furthest = max(complaining, key=lambda draft: (draft.step if draft.step is not None else -1, _line(draft)))
        odd, by = (furthest.rank,), "collective"
    if not odd:
        return None
    mine = drafts[odd[0]]
    others = [draft for draft in complaining if draft.rank not in odd]
    why = [f"{name_ranks(odd)}: {_where(mine)}; {name_ranks([draft.rank for draft in others])}: {_where(others[0])}"]
    ahead = (mine.step if mine.step is not None else -1, _line(mine)) > (others[0].step if others[0].step is not None else -1, _line(others[0]))
    title = f"{_said(odd)} parted from the others: it " + ("is ahead, having left out a collective" if ahead else "called another collective")
    return Judgement("diverged", odd, title, "likely" if by == "collective" and len(complaining) > 2 else "open", tuple(why))


def _open(drafts: dict[int, Draft], ends: dict[int, Death]) -> Judgement:
    first = next((rank for rank, death in ends.items() if death.first), None)
    if first is not None:
        death = ends[first]
        status = f"status {death.status}" if death.status is not None and death.status >= 0 else _NAMES.get(_signal(death), "a signal")
        why = (f"the launcher saw rank {first} end first, with {status}", "its log holds no error")
        return Judgement("failed", (first,), f"Rank {first} ended first, with {status}", "likely", why)
    told = [rank for rank, draft in drafts.items() if draft.complaint != "none"]
    return Judgement(
        "open",
        (),
        "The logs do not tell who failed first",
        "open",
        (f"{name_ranks(told)} complain{'s' if len(told) == 1 else ''} of others",) if told else (),
    )


# ---------------------------------------------------------------- small things


def _said(ranks: Sequence[int]) -> str:
    text = name_ranks(ranks)
    return text[:1].upper() + text[1:]


def _moment(draft: Draft) -> float | None:
    return draft.error.time if draft.error is not None else None


def _signal(death: Death | None) -> int:
    """Give the signal that ended a rank; 0 where it was none."""
    if death is None or death.status is None:
        return 0
    if death.status < 0:
        return -death.status
    return death.status - 128 if 128 < death.status < 160 else 0


def _ended(death: Death | None) -> bool:
    """Tell whether the launcher ended a rank because of another."""
    return death is not None and _signal(death) == SIGTERM


def _odd(texts: dict[int, str]) -> tuple[int, ...]:
    """Give the ranks that differ from what most have; none where there is no such majority."""
    if len(texts) < 3:
        return ()
    (most, count), *others = Counter(texts.values()).most_common()
    if not others or count * 2 <= len(texts):
        return ()
    return tuple(sorted(rank for rank, text in texts.items() if text != most))


def _furthest_behind(drafts: Sequence[Draft]) -> list[Draft]:
    """Of several silent ranks keep those that came least far, by step, else by time."""
    if len(drafts) < 2:
        return list(drafts)
    steps = [draft.step for draft in drafts if draft.step is not None]
    if len(steps) == len(drafts) and min(steps) < max(steps):
        return [draft for draft in drafts if draft.step == min(steps)]
    lasts = [draft.last for draft in drafts if draft.last is not None]
    if len(lasts) == len(drafts) and max(lasts) - min(lasts) > TOGETHER:
        return [draft for draft in drafts if (draft.last or 0.0) - min(lasts) < TOGETHER / 2]
    return list(drafts)


def _place(draft: Draft) -> str:
    found = draft.main.collective
    if found is None:
        return ""
    return " ".join(str(part) for part in (found.operation, found.sequence, found.elements, found.place) if part not in (None, ""))


def _where(draft: Draft) -> str:
    found = draft.main.collective
    parts = []
    if found is not None:
        numbered = f" number {found.sequence}" if found.sequence is not None else ""
        parts.append(f"in {found.operation}{numbered}" + (f" at {found.place}" if found.place else ""))
    if draft.step is not None:
        parts.append(f"last step {draft.step}")
    return ", ".join(parts) or "no collective named"


def _line(draft: Draft) -> int:
    found = draft.main.collective
    number = found.place.rpartition(":")[2] if found is not None else ""
    return int(number) if number.isdecimal() else -1


def _without_sequence(text: str) -> str:
    """Compare collectives by kind and shape: a rank that left one out has the same number for another call."""
    parts = text.split(" ")
    return " ".join(parts[:-1]) if len(parts) > 1 and parts[-1].isdecimal() else text
