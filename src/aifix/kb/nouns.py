"""What the history holds: incidents, what was tried, and what the environment was."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from aifix.model import Origin

How = Literal["pipe", "run", "diagnose"]
UNKNOWN = "unknown"
"""Stands for a diagnosis where no rule knew the failure."""


class Environment(msgspec.Struct, frozen=True, omit_defaults=True):
    """What may decide whether a run fails: interpreter, packages by name, variables that libraries read, driver and cards."""

    system: str = ""
    python: str = ""
    interpreter: str = ""
    packages: dict[str, str] = {}
    variables: dict[str, str] = {}
    driver: str = ""
    cards: tuple[str, ...] = ()


class Offered(msgspec.Struct, frozen=True):
    """A fix as it was offered."""

    id: str
    title: str
    score: float


class Probed(msgspec.Struct, frozen=True):
    """What a probe answered."""

    id: str
    status: str
    summary: str


class Noted(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fact as printed, and its value where it is plain."""

    text: str
    value: Any = None
    unit: str | None = None


class Cited(msgspec.Struct, frozen=True):
    """A line of proof, without its secrets."""

    line: int
    text: str


class Incident(msgspec.Struct, frozen=True, kw_only=True):
    """One failure of one run. `at` in seconds since 1970, `seconds` its duration (0: unknown); texts hold no secrets.

    `origin` says whether the run was on this machine; `ended_at` when the same command first ended well again, and `ended` what had changed.
    """

    uid: str
    at: float
    host: str
    how: How
    origin: Origin = "here"
    attempt: int = 1
    command: str = ""
    command_key: str = ""
    folder: str = ""
    project: str = ""
    revision: str = ""
    status: int | None = None
    seconds: float = 0.0
    environment: Environment = Environment()
    diagnosis: str = UNKNOWN
    title: str = ""
    confidence: float = 0.0
    fingerprint: str = ""
    location: str = ""
    facts: dict[str, Noted] = {}
    evidence: tuple[Cited, ...] = ()
    probes: tuple[Probed, ...] = ()
    fixes: tuple[Offered, ...] = ()
    also: tuple[str, ...] = ()
    ended_at: float | None = None
    ended: tuple[str, ...] = ()
    number: int = 0
    """Its number in this history; 0 where it is in none yet."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a fix ended an incident. `uid` is the same for the same incident and fix on every machine: merging twice changes nothing."""

    uid: str
    incident: str
    diagnosis: str
    fix: str
    worked: bool
    at: float
    project: str = ""
    note: str = ""
