"""Read all logs, some at a time, and put together what belongs to one rank."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from aifix.ranklogs import clock as clocks
from aifix.ranklogs.layout import files_of, name_files
from aifix.ranklogs.reading import Reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aifix.ranklogs.nouns import Death, Error, Named, Reading
    from aifix.rulebase.base import Base

ALONE = 64 << 20
"""Bytes of logs up to which one process reads them all: a pool takes longer to start."""
_WEIGHT = {"own": 5, "mismatch": 4, "waited": 3, "lost": 2, "ended": 1, "none": 0}


class Draft(NamedTuple):
    """All readings of one rank, put together; times without the skew of its clock."""

    rank: int
    name: str
    node: str
    readings: tuple[Reading, ...]
    main: Reading
    """The reading with its error, or else the one that goes furthest."""
    first: float | None
    last: float | None
    step: int | None
    error: Error | None

    @property
    def complaint(self) -> str:
        """What its error is about."""
        return self.main.complaint


class Job(NamedTuple):
    """The logs of one job."""

    sources: tuple[str, ...]
    layout: str
    files: int
    bytes: int
    drafts: tuple[Draft, ...]
    others: tuple[Reading, ...]
    deaths: tuple[Death, ...]
    world: int | None
    skews: dict[str, tuple[float, int]]
    attempts: tuple[int, ...]
    timed: bool
    shared: bool
    notes: tuple[str, ...]


def gather(paths: Sequence[str], base: Base, *, attempt: int | None = None, jobs: int | None = None) -> Job:
    """Read the logs of a job.

    Args:
        paths: folders and files.
        base: the rules.
        attempt: which start of a restarted job; the last one by default.
        jobs: processes that read; as many as there are processors by default.

    Raises:
        OSError: a path that does not exist or cannot be read.
        ValueError: no log there, or no such attempt.

    """
    named = name_files(files_of(paths))
    if not named:
        message = f"no log files in {', '.join(paths)}"
        raise ValueError(message)
    attempts = tuple(sorted({one.attempt for one in named if one.layout == "torchrun"}))
    notes: list[str] = []
    if attempts:
        wanted = attempts[-1] if attempt is None else attempt
        if wanted not in attempts:
            message = f"there is no attempt {wanted}; there are {', '.join(map(str, attempts))}"
            raise ValueError(message)
        named = [one for one in named if one.layout != "torchrun" or one.attempt == wanted]
        if len(attempts) > 1:
            notes.append(f"attempt {wanted} of {len(attempts)} starts; --attempt N reads another")
    readings = list(_read(named, base, jobs))
    layout = max({one.layout for one in named}, key=lambda kind: (kind != "files", kind))
    if layout == "files" and any(one.shared for one in readings):
        layout = "one file" if len({one.named.path for one in readings}) == 1 else "shared files"
    placed, others = _placed(readings)
    skews, placed = _without_skew(placed)
    deaths = tuple(death for one in readings for death in one.deaths)
    worlds = [one.world for one in readings if one.world]
    return Job(
        sources=tuple(paths),
        layout=layout,
        files=len(named),
        bytes=_size(named),
        drafts=tuple(sorted((_draft(rank, mine) for rank, mine in placed.items()), key=lambda draft: draft.rank)),
        others=tuple(others),
        deaths=deaths,
        world=max(worlds) if worlds else None,
        skews=skews,
        attempts=attempts,
        timed=any(one.last is not None for mine in placed.values() for one in mine),
        shared=any(one.shared for one in readings),
        notes=tuple(notes),
    )


# ---------------------------------------------------------------- reading, in several processes where that pays

_reader: Reader | None = None


def _read(named: Sequence[Named], base: Base, jobs: int | None) -> Iterator[Reading]:
    global _reader  # noqa: PLW0603 - the processes of the pool find it here
    count = min(jobs or os.cpu_count() or 1, len(named))
    reader = Reader(base)
    if count < 2 or not hasattr(os, "fork") or threading.active_count() > 1 or _size(named) < ALONE:
        for one in named:
            yield from reader.read(one)
        return
    import multiprocessing

    _reader = reader

    # Forked: the rules are loaded, and the children share their pages. Safe, since no other thread lives.
    with multiprocessing.get_context("fork").Pool(count) as pool:
        for found in pool.imap_unordered(_read_one, named, chunksize=max(1, min(8, len(named) // (4 * count)))):
            yield from found


def _read_one(named: Named) -> list[Reading]:
    if _reader is None:
        return []
    return _reader.read(named)


def _size(named: Iterable[Named]) -> int:
    return sum(os.stat(one.path).st_size for one in named)


# ---------------------------------------------------------------- which rank


def _placed(readings: Sequence[Reading]) -> tuple[dict[int, list[Reading]], list[Reading]]:
    """Part the readings by rank. Of local ranks the node's first rank is read off one that names both; else nodes count in order."""
    bases: dict[str, int] = {}
    by_node: dict[str, set[int]] = defaultdict(set)
    for one in readings:
        if one.named.local is not None:
            by_node[one.named.group].add(one.named.local)
            if one.named.rank is not None:
                bases[one.named.group] = one.named.rank - one.named.local
    at = 0
    for node in sorted(by_node):
        bases.setdefault(node, at)
        at = max(at, bases[node] + max(by_node[node]) + 1)
    placed: dict[int, list[Reading]] = defaultdict(list)
    others: list[Reading] = []
    for one in readings:
        rank = one.named.rank
        if rank is None and one.named.local is not None:
            rank = bases[one.named.group] + one.named.local
        if rank is None:
            others.append(one)
        else:
            placed[rank].append(one)
    nameless = [one for one in others if _is_rank(one)]
    if not placed and len(nameless) > 1:  # nothing tells which is which: number them in order
        order = sorted(nameless, key=lambda one: (one.named.path, one.named.node))
        return {number: [one] for number, one in enumerate(order)}, [one for one in others if one not in nameless]
    return dict(placed), others


def _is_rank(one: Reading) -> bool:
    """Tell whether a log without a number is a rank's and not the launcher's."""
    return not one.deaths and (bool(one.named.node) or not one.shared)


def _without_skew(placed: dict[int, list[Reading]]) -> tuple[dict[str, tuple[float, int]], dict[int, list[Reading]]]:
    """Set the clocks of nodes (of ranks, where no node is named) against each other by the steps that they share."""
    by_clock: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    clock_of: dict[int, str] = {}
    for rank, mine in placed.items():
        clock_of[rank] = next((one.named.node for one in mine if one.named.node), f"rank {rank}")
        for one in mine:
            for step, moment in one.at_step.items():
                by_clock[clock_of[rank]][step].append(moment)
    found = clocks.skews({name: {step: median(moments) for step, moments in steps.items()} for name, steps in by_clock.items()})
    if not found:
        return {}, placed
    return found, {
        rank: [_shifted(one, found[clock_of[rank]][0]) if clock_of[rank] in found else one for one in mine] for rank, mine in placed.items()
    }


def _shifted(one: Reading, ahead: float) -> Reading:
    error = one.error
    if error is not None and error.time is not None:
        error = msgspec.structs.replace(error, time=error.time - ahead)
    return msgspec.structs.replace(
        one,
        first=None if one.first is None else one.first - ahead,
        last=None if one.last is None else one.last - ahead,
        error=error,
    )


def _draft(rank: int, mine: Sequence[Reading]) -> Draft:
    main = max(mine, key=lambda one: (_WEIGHT[one.complaint], one.named.stream != "record", one.step or -1, one.lines))
    error = main.error
    recorded = next((one.error.time for one in mine if one.named.stream == "record" and one.error is not None and one.error.time), None)
    if error is not None and recorded is not None and main.complaint == "own":
        error = msgspec.structs.replace(error, time=recorded)
    firsts = [one.first for one in mine if one.first is not None]
    lasts = [one.last for one in mine if one.last is not None]
    steps = [one.step for one in mine if one.step is not None]
    node = next((one.named.node for one in mine if one.named.node), "")
    return Draft(
        rank=rank,
        name=f"rank {rank}",
        node=node,
        readings=tuple(mine),
        main=main,
        first=min(firsts, default=None),
        last=max(lasts, default=None),
        step=max(steps, default=None),
        error=error,
    )
