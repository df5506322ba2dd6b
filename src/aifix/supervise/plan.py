"""What is to be supervised and how, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.model import Report

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
