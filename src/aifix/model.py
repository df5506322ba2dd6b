"""The nouns of aifix: frozen, typed, free of I/O. Everything imports this module; it imports nothing of ours."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Severity = Literal["error", "warning", "info"]
Effort = Literal["low", "medium", "high"]
Role = Literal["root", "symptom"]
Level = Literal["error", "warning"]
MatchKind = Literal["exact", "fuzzy"]
Status = Literal["confirmed", "refuted", "inconclusive", "not-available", "not-run"]
ActionKind = Literal["command", "code", "env", "config", "note", "patch"]
Origin = Literal["here", "unsure", "elsewhere"]
"""Whether a log is of a run on this machine."""
Genre = Literal["log", "document", "source", "diff", "listing", "manual", "chat"]
Relation = Literal["first", "cause", "context", "worker"]


class Line(msgspec.Struct, frozen=True, gc=False):
    """One cleaned line of the input.

    `number` counts the input's lines (they end at a line feed) from 1; several cleaned lines share a number when
    carriage returns redrew the line. `text` has no escapes and no prefix; `prefix` is what was taken off.
    """

    number: int
    text: str
    rank: int | None = None
    prefix: str = ""


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One frame of a Python traceback; `user` tells the user's code from a library's."""

    file: str
    line: int
    function: str
    source: str = ""
    user: bool = False


class Traceback(msgspec.Struct, frozen=True):
    """A parsed Python traceback.

    `start` and `end` index the document's lines (`end` is one past the last line of the message); `error` is the index
    of the exception line. `relation` says how it hangs with the one before it in its chain: `cause` ("direct cause"),
    `context` ("during handling"), `worker` (the original traceback of another process), or `first`.
    """

    start: int
    end: int
    error: int
    kind: str
    message: str
    frames: tuple[Frame, ...] = ()
    relation: Relation = "first"
    rank: int | None = None
    quoted: frozenset[int] = frozenset()


class Document(msgspec.Struct, frozen=True):
    """A cleaned input: its lines in order, the tracebacks found in it, and what kind of text it is."""

    lines: tuple[Line, ...]
    tracebacks: tuple[Traceback, ...] = ()
    genre: Genre = "log"
    source: str = "-"
    total_lines: int = 0
    truncated: bool = False


class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value read from the log: exactly as printed, parsed, and in which unit.

    `origin` is empty for the log's own; `train.py:12` or `command line` where it was read off the failing source or how it was called.
    """

    text: str
    value: Any = None
    unit: str | None = None
    origin: str = ""


class Evidence(msgspec.Struct, frozen=True):
    """A whole cleaned line that proves something, by its number in the input."""

    line: int
    text: str


class Match(msgspec.Struct, frozen=True):
    """How the diagnosis was recognised: exactly or by likeness, with a score in 0..1 and the signature's pattern."""

    kind: MatchKind
    score: float
    signature: str


class Location(msgspec.Struct, frozen=True):
    """The innermost frame of the user's own code."""

    file: str
    line: int
    function: str = ""
    source: str = ""


class ProbeResult(msgspec.Struct, frozen=True):
    """What a probe found on this machine. `ratio` is the likelihood ratio by which it moved the diagnosis."""

    id: str
    status: Status
    summary: str
    data: dict[str, Any] = {}
    ratio: float = 1.0


class Action(msgspec.Struct, frozen=True):
    """One thing to do, typed so that it can be rendered, copied or applied; a `patch` names a transformation of `aifix fix`."""

    kind: ActionKind
    text: str


class Fix(msgspec.Struct, frozen=True):
    """A ranked fix: `score` is the chance that it works here weighed against effort and risk, in 0..1."""

    id: str
    title: str
    score: float
    effort: Effort
    risk: str
    do: tuple[Action, ...]
    why: str = ""


class Step(msgspec.Struct, frozen=True):
    """One step of the derivation that `aifix why` shows."""

    what: str
    detail: str


class Diagnosis(msgspec.Struct, frozen=True):
    """One diagnosis of the report."""

    id: str
    title: str
    severity: Severity
    confidence: float
    symptom: bool
    match: Match
    evidence: tuple[Evidence, ...]
    facts: dict[str, Fact]
    location: Location | None
    ranks: tuple[int, ...]
    caused_by: str | None
    explanation: str
    probes: tuple[ProbeResult, ...] = ()
    fixes: tuple[Fix, ...] = ()
    references: tuple[str, ...] = ()
    count: int = 1
    transient: bool = False
    derivation: tuple[Step, ...] = ()


class Nearest(msgspec.Struct, frozen=True):
    """A diagnosis whose wording is near, but not near enough to claim."""

    id: str
    title: str
    score: float


class Similar(msgspec.Struct, frozen=True):
    """A name in the user's files that is nearly the one which an error misses, and where it stands first."""

    name: str
    location: Location


class Unknown(msgspec.Struct, frozen=True):
    """A failure that no rule knows: the parsed error, where it stands, and the nearest articles."""

    kind: str
    message: str
    evidence: tuple[Evidence, ...]
    location: Location | None = None
    ranks: tuple[int, ...] = ()
    nearest: tuple[Nearest, ...] = ()
    similar: tuple[Similar, ...] | msgspec.UnsetType = msgspec.UNSET
    """Left out of the JSON where no name of the user's files is like one that the error misses, or nobody looked."""


class Met(msgspec.Struct, frozen=True):
    """That a failure was met before: its last incident, how often, whether on this machine, the fix that ended it, and all of it as a sentence.

    `diagnosis` is the id that it had, `unknown` where no rule knew it; `at` is UTC, as ISO 8601 has it.
    """

    diagnosis: str
    incident: int
    at: str
    host: str
    here: bool
    times: int
    ended_by: str | None
    text: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What aifix says about one input; `aifix.report/1` when printed as JSON."""

    schema: str = "aifix.report/1"
    source: str
    failed: bool
    diagnoses: tuple[Diagnosis, ...] = ()
    unknown: Unknown | None = None
    hints: tuple[Diagnosis, ...] = ()
    history: tuple[Met, ...] | msgspec.UnsetType = msgspec.UNSET
    """Left out of the JSON where the failure was not met before, or nobody looked."""


# ---------------------------------------------------------------- rules, as compiled from YAML


class Signature(msgspec.Struct, frozen=True, omit_defaults=True):
    """One wording of a failure. `pattern` is plain regex text with named groups; `types` gives each group's type."""

    pattern: str
    source: str
    cores: tuple[str, ...]
    types: dict[str, str] = {}
    covers: str = ""
    strength: float = 0.95
    role: Role = "root"
    level: Level = "error"
    having: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    within: int | None = None
    anywhere: bool = False
    detector: str = ""


class Collector(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where further facts of a diagnosis stand. `within` lines around the match; None is the whole log."""

    pattern: str
    types: dict[str, str] = {}
    within: int | None = 80
    pick: Literal["nearest", "first", "last"] = "nearest"


class Derived(msgspec.Struct, frozen=True):
    """A fact computed from others."""

    name: str
    type: str
    expression: str


class Refinement(msgspec.Struct, frozen=True):
    """A more specific diagnosis and the condition that selects it."""

    to: str
    when: str


class ProbeUse(msgspec.Struct, frozen=True, omit_defaults=True):
    """A probe that bears on a diagnosis, and the likelihood ratio of each verdict."""

    id: str
    confirmed: float = 4.0
    refuted: float = 0.25


class Given(msgspec.Struct, frozen=True):
    """What a condition, mostly a probe's verdict, does to the chance of a fix: a factor on its odds."""

    when: str
    odds: float


class FixTemplate(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fix as the rule has it, before this log's values are filled in."""

    id: str
    title: str
    prior: float
    effort: Effort
    risk: str
    do: tuple[Action, ...]
    when: str = ""
    why: str = ""
    given: tuple[Given, ...] = ()


class Example(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text that must (or, as a counterexample, must not) be diagnosed, with facts by printed text."""

    text: str
    facts: dict[str, str] = {}
    id: str = ""


class Rule(msgspec.Struct, frozen=True, omit_defaults=True):
    """One diagnosis of the base."""

    id: str
    title: str
    severity: Severity
    explain: str
    signatures: tuple[Signature, ...] = ()
    fixes: tuple[FixTemplate, ...] = ()
    symptom: bool = False
    transient: bool = False
    phase: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    collect: tuple[Collector, ...] = ()
    facts: tuple[Derived, ...] = ()
    refine: tuple[Refinement, ...] = ()
    causes: tuple[str, ...] = ()
    yields_to: tuple[str, ...] = ()
    probes: tuple[ProbeUse, ...] = ()
    references: tuple[str, ...] = ()
    origin: str = "built-in"
