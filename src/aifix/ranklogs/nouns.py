"""What the logs of many ranks say together: frozen, typed, free of I/O."""

from __future__ import annotations

from typing import Literal

import msgspec

from aifix.model import Location, Report

Stream = Literal["stdout", "stderr", "both", "record"]
Complaint = Literal["own", "lost", "waited", "mismatch", "ended", "none"]
"""What the last error of a rank is about: itself; a peer that went away; one that did not come; one that calls another collective;
that somebody ended it; nothing."""
Role = Literal["first", "failed", "follower", "silent", "missing", "well", "unclear"]
Kind = Literal["failed", "killed", "vanished", "frozen", "diverged", "left-early", "missing", "healthy", "open"]
"""How it began. `failed`: it said so itself. `killed`: a signal ended it. `vanished`: its log just ends, and its peers lost it. `frozen`: it
fell silent, and its peers waited in vain. `diverged`: it was in another collective than its peers. `left-early`: it ended well while its
peers still needed it. `missing`: it left no log. `open`: the logs do not tell."""
Certainty = Literal["proven", "likely", "open"]
Measure = Literal["step", "data"]


class Named(msgspec.Struct, frozen=True):
    """Whose log a file is, as far as its path tells."""

    path: str
    rank: int | None = None
    local: int | None = None
    node: str = ""
    attempt: int = 0
    stream: Stream = "both"
    group: str = ""
    layout: str = "files"


class Collective(msgspec.Struct, frozen=True):
    """The collective in which a rank was: which, the how-manieth, how many elements, and from where in the program it was called."""

    operation: str
    sequence: int | None = None
    elements: int | None = None
    place: str = ""


class Error(msgspec.Struct, frozen=True):
    """The error with which a rank ended: the diagnosis' id (or the exception where no rule knows it), and the line that proves it."""

    id: str
    title: str
    file: str
    line: int
    text: str
    known: bool = True
    time: float | None = None
    location: Location | None = None


class Death(msgspec.Struct, frozen=True):
    """How a launcher says that a rank ended: its exit status (negative: by that signal), when, and whether it was the first it saw."""

    rank: int | None
    status: int | None
    local: int | None = None
    node: str = ""
    pid: int | None = None
    time: float | None = None
    first: bool = False
    forced: bool = False


class Reading(msgspec.Struct, frozen=True):
    """What one log says of one rank (of a file with many ranks: each rank's share)."""

    named: Named
    bytes: int = 0
    lines: int = 0
    first: float | None = None
    last: float | None = None
    modified: float | None = None
    step: int | None = None
    at_step: dict[int, float] = {}
    step_seconds: float | None = None
    data_seconds: float | None = None
    complaint: Complaint = "none"
    error: Error | None = None
    collective: Collective | None = None
    world: int | None = None
    well: bool = False
    named_absent: tuple[int, ...] = ()
    fingerprints: tuple[tuple[int, str], ...] = ()
    deaths: tuple[Death, ...] = ()
    end: str = ""
    shared: bool = False


class Rank(msgspec.Struct, frozen=True):
    """One rank of the job. Times are seconds since 1970, the skew of its node's clock taken off; `silence` counts to the others' end."""

    rank: int | None
    name: str
    node: str
    role: Role
    detail: str
    files: tuple[str, ...] = ()
    bytes: int = 0
    lines: int = 0
    first: float | None = None
    last: float | None = None
    silence: float | None = None
    step: int | None = None
    step_seconds: float | None = None
    data_seconds: float | None = None
    collective: Collective | None = None
    complaint: Complaint = "none"
    error: Error | None = None
    exit_status: int | None = None


class Straggler(msgspec.Struct, frozen=True):
    """A rank that takes visibly longer than the others: its median and that of all, in seconds."""

    rank: int
    measure: Measure
    seconds: float
    typical: float


class Skew(msgspec.Struct, frozen=True):
    """By how much the clock of a node (or rank) runs ahead of the others', from events that they share."""

    name: str
    seconds: float
    events: int


class Verdict(msgspec.Struct, frozen=True):
    """Who failed first, how, and why that is thought."""

    kind: Kind
    ranks: tuple[int, ...]
    title: str
    certainty: Certainty
    why: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    report: Report | None = None


class RanksReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the logs of a job's ranks say together; `aifix.ranks/1` when printed as JSON."""

    schema: str = "aifix.ranks/1"
    sources: tuple[str, ...]
    layout: str
    files: int
    bytes: int
    failed: bool
    verdict: Verdict
    world: int | None = None
    ranks: tuple[Rank, ...] = ()
    missing: tuple[int, ...] = ()
    stragglers: tuple[Straggler, ...] = ()
    skews: tuple[Skew, ...] = ()
    start: float | None = None
    end: float | None = None
    clock: Literal["log", "file", "none"] = "none"
    shared: bool = False
    attempts: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
