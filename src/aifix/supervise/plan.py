"""What is to be supervised and how, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aifix.kb.memory import Memory
    from aifix.model import Report
    from aifix.probes.producer import Producer

BACKOFF = 2.0
"""Seconds before the first restart."""


@dataclass(frozen=True)
class Plan:
    """A command and how to supervise it; times in seconds."""

    command: tuple[str, ...]
    log: str = ""
    stall: float = 0.0
    """Report a silence of that length; 0: never."""
    kill_stalled: bool = False
    retry: int = 0
    retry_hook: str = ""
    checkpoint_dir: str = ""
    backoff: float = BACKOFF
    probe: bool = True
    python: str = ""
    environ: Mapping[str, str] | None = None
    quiet: bool = False
    """Say nothing of a run that ended well."""
    divert: bool = False
    """Pass the child's standard output to standard error: standard output is for the report."""
    memory: Memory | None = None
    """The history of incidents, which the reports take into account."""
    restarting: Callable[[Failure], None] | None = None
    """Is told of a failed attempt before the next one is waited for."""
    unsupervised: Callable[[], None] | None = None
    """Runs the command without us, where there is no room to supervise it (no process, thread or descriptor is left)."""


@dataclass(frozen=True)
class Failure:
    """One attempt that failed: its report, its status as a shell gives it, its length in seconds, and the processes that were seen.

    `blocks` are its output, as far as a diagnosis can need it, each with the number of its first line.
    """

    report: Report
    status: int
    seconds: float
    attempt: int = 1
    producers: Sequence[Producer] = ()
    blocks: Sequence[tuple[int, bytes]] = ()


@dataclass
class Outcome:
    """How the run ended.

    `status` is what a shell would give: the child's own, or 128 + the signal that ended it. `report` is that of the last attempt.
    """

    status: int
    signal: int = 0
    attempts: int = 1
    seconds: float = 0.0
    lines: int = 0
    peak_memory: int = 0
    """Bytes of the largest single process, as the kernel counted."""
    interrupted: bool = False
    """Whether a signal to us or a key of the user asked it to end."""
    stalled: bool = False
    """Whether it was killed because it printed nothing."""
    stalls: int = 0
    unfinished: bool = False
    """Whether what stands on standard error last is no whole line."""
    report: Report | None = None
    reports: list[Report] = field(default_factory=list)
    """Of each failed attempt, in order."""
    failures: list[Failure] = field(default_factory=list)
    """The failed attempts themselves."""
    producers: Sequence[Producer] = ()
    """The processes that were seen of the last attempt."""
    kept: list[tuple[int, bytes]] = field(default_factory=list)
    """Of a failed run's output, where aifix was replaced meanwhile and this version cannot diagnose it: what was kept of it."""
