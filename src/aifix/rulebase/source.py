"""A rule as people write it (YAML), and its way to the `Rule` of the model.

The structs here are the one definition of the format: the JSON Schema for editors is generated from them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import yaml

from aifix.match.captures import UnknownTypeError, expand
from aifix.match.detectors import DETECTORS
from aifix.match.literals import cores
from aifix.match.regex import PatternError, compile_pattern
from aifix.model import (
    Action,
    ActionKind,
    Collector,
    Derived,
    Effort,
    Example,
    FixTemplate,
    Given,
    Level,
    ProbeUse,
    Refinement,
    Role,
    Rule,
    Severity,
    Signature,
)

if TYPE_CHECKING:
    from pathlib import Path

MAX_FILE = 1 << 20
"""Bytes of a rule file; a larger one is refused unread."""
MAX_DEPTH = 12
"""Nesting of a rule file; deeper ones are refused."""

RuleId = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9]*\.[a-z0-9][a-z0-9-]*$")]
Phase = Literal["install", "build", "startup", "data", "training", "checkpoint", "inference", "serving", "distributed", "hardware"]
Chance = Annotated[float, msgspec.Meta(gt=0, le=1)]
Within = int | Literal["all"]


class SignatureSource(msgspec.Struct, forbid_unknown_fields=True, rename={"having": "with"}):
    """One wording that a program prints."""

    pattern: str = ""
    detector: str = ""
    covers: str = ""
    strength: Chance = 0.95
    role: Role = "root"
    level: Level = "error"
    having: str | list[str] = []
    without: str | list[str] = []
    within: Within = "all"
    anywhere: bool = False


class CollectorSource(msgspec.Struct, forbid_unknown_fields=True):
    """A pattern that only gives further facts."""

    pattern: str
    within: Within = 80
    pick: Literal["nearest", "first", "last"] = "nearest"


class RefinementSource(msgspec.Struct, forbid_unknown_fields=True):
    """A more specific id and its condition."""

    to: RuleId
    when: str


class ProbeSource(msgspec.Struct, forbid_unknown_fields=True):
    """A built-in probe and the likelihood ratios of its verdicts."""

    id: str
    confirmed: Annotated[float, msgspec.Meta(ge=1, le=100)] = 4.0
    refuted: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.25


class ActionSource(msgspec.Struct, forbid_unknown_fields=True):
    """One thing to do."""

    kind: ActionKind
    text: str


class GivenSource(msgspec.Struct, forbid_unknown_fields=True):
    """A condition, mostly on a probe's verdict, and by what the odds of the fix are multiplied where it holds."""

    when: str
    odds: Annotated[float, msgspec.Meta(ge=0.05, le=20)]


class FixSource(msgspec.Struct, forbid_unknown_fields=True):
    """A fix, with when it applies, how often it helps, what it costs and what it may change."""

    id: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: str
    prior: Chance
    effort: Effort
    risk: str
    do: list[ActionSource]
    when: str = ""
    why: str = ""
    given: list[GivenSource] = []


class ExampleSource(msgspec.Struct, forbid_unknown_fields=True):
    """A text to be diagnosed; for a counterexample `id` says what it is instead."""

    text: str
    facts: dict[str, str | int | float] = {}
    id: str = ""


class RuleSource(msgspec.Struct, forbid_unknown_fields=True):
    """One diagnosis."""

    id: RuleId
    title: str
    explain: str
    signatures: list[SignatureSource] = []
    fixes: list[FixSource] = []
    severity: Severity = "error"
    symptom: bool = False
    transient: bool = False
    phase: list[Phase] = []
    tags: list[str] = []
    collect: list[CollectorSource] = []
    facts: dict[str, str | int | float] = {}
    refine: list[RefinementSource] = []
    causes: list[str] = []
    yields_to: list[str] = []
    probes: list[ProbeSource | str] = []
    examples: list[ExampleSource | str] = []
    counterexamples: list[ExampleSource | str] = []
    references: list[str] = []


class Problem(msgspec.Struct, frozen=True):
    """What is wrong with a rule file, and where (line and column from 1; 0 when unknown)."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}" if self.line else f"{self.file}: {self.message}"


class RuleError(ValueError):
    """A rule file cannot be used; `problem` says where and why."""

    def __init__(self, problem: Problem) -> None:
        """Keep the problem, and print as it."""
        super().__init__(str(problem))
        self.problem = problem


class Loaded(msgspec.Struct, frozen=True):
    """A rule, its source form and its examples."""

    rule: Rule
    source: RuleSource
    examples: tuple[Example, ...]
    counterexamples: tuple[Example, ...]
    file: str


class _NoAliasLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the C loader is missing where libyaml is
    """The safe loader; anchors are refused (a few lines of aliases can expand to gigabytes)."""


def _look_over(text: str, file: str) -> None:
    """Refuse aliases and deep nesting before anything is built of them."""
    depth = 0
    for event in yaml.parse(text, Loader=_NoAliasLoader):
        mark: Any = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            raise RuleError(Problem(file, mark.line + 1, mark.column + 1, "YAML aliases are not allowed in rules"))
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise RuleError(Problem(file, mark.line + 1, mark.column + 1, f"nested deeper than {MAX_DEPTH} levels"))


def load_yaml(text: str, file: str, *, trusted: bool = False) -> Any:
    """Parse YAML without aliases or deep nesting (the built-in rules are trusted: they are looked over once, by lint).

    Raises:
        RuleError: not YAML, too large, too deep, or with anchors.

    """
    if len(text) > MAX_FILE:
        raise RuleError(Problem(file, 0, 0, f"the file is larger than {MAX_FILE} bytes"))
    try:
        if not trusted:
            _look_over(text, file)
        return yaml.load(text, Loader=_NoAliasLoader)  # noqa: S506 - a subclass of the safe loader
    except RuleError:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise RuleError(Problem(file, mark.line + 1 if mark else 0, mark.column + 1 if mark else 0, f"not valid YAML: {reason}")) from error
    except ValueError as error:  # e.g. a timestamp with month 13
        raise RuleError(Problem(file, 0, 0, f"not valid YAML: {error}")) from error


def repeated(text: str) -> list[tuple[int, int, str]]:
    """Give the keys that stand twice in one mapping, with line and column: YAML keeps the last and says nothing."""
    found: list[tuple[int, int, str]] = []

    def walk(node: Any) -> None:
        if isinstance(node, yaml.MappingNode):
            known: set[str] = set()
            for key, value in node.value:
                if key.value in known:
                    found.append((key.start_mark.line + 1, key.start_mark.column + 1, str(key.value)))
                if isinstance(key.value, str):
                    known.add(key.value)
                walk(value)
        elif isinstance(node, yaml.SequenceNode):
            for value in node.value:
                walk(value)

    walk(yaml.compose(text, Loader=_NoAliasLoader))
    return found


def position(text: str, path: str) -> tuple[int, int]:
    """Find where a path such as `$.signatures[0].pattern` stands in a YAML text; (0, 0) when it does not."""
    try:
        node = yaml.compose(text, Loader=_NoAliasLoader)
    except yaml.YAMLError:
        return 0, 0
    at = node
    for key, index in re.findall(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]", path):
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                if name.value == key:
                    at, node = name, value
                    break
            else:
                break
        elif isinstance(node, yaml.SequenceNode) and index.isdigit() and int(index) < len(node.value):
            node = at = node.value[int(index)]
        else:
            break
    return (at.start_mark.line + 1, at.start_mark.column + 1) if at is not None else (0, 0)


def loads(text: str, file: str = "<rule>", origin: str = "built-in") -> Loaded:
    """Read one rule from YAML text.

    Args:
        text: the YAML.
        file: its name, for messages.
        origin: who brings it: 'built-in', a folder or a rule pack.

    Raises:
        RuleError: it is not a rule; says the file, line, column and what is wrong.

    """
    data = load_yaml(text, file, trusted=origin == "built-in" and file != "<rule>")
    try:
        source = msgspec.convert(data, RuleSource)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `")
        line, column = position(text, path.rstrip("`"))
        raise RuleError(Problem(file, line or 1, column or 1, f"{message}{f' at {path[:-1]}' if path else ''}")) from error
    try:
        rule = build(source, origin)
    except _PartError as error:
        line, column = position(text, error.path)
        raise RuleError(Problem(file, line, column, str(error))) from error
    return Loaded(rule, source, tuple(_example(item) for item in source.examples), tuple(_example(item) for item in source.counterexamples), file)


def load(path: Path, origin: str = "built-in") -> Loaded:
    """Read one rule file.

    Raises:
        RuleError: it cannot be read or is not a rule.

    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RuleError(Problem(str(path), 0, 0, f"cannot be read: {error}")) from error
    return loads(text, str(path), origin)


class _PartError(ValueError):
    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


def build(source: RuleSource, origin: str = "built-in") -> Rule:
    """Turn the source form into the rule that the matcher and the reasoner use."""
    return Rule(
        id=source.id,
        title=source.title,
        severity=source.severity,
        explain=source.explain.strip(),
        signatures=tuple(_signature(item, f"$.signatures[{index}].pattern") for index, item in enumerate(source.signatures)),
        fixes=tuple(
            FixTemplate(
                id=fix.id,
                title=fix.title,
                prior=fix.prior,
                effort=fix.effort,
                risk=fix.risk,
                when=fix.when,
                why=fix.why.strip(),
                given=tuple(Given(item.when, item.odds) for item in fix.given),
                do=tuple(Action(action.kind, action.text.rstrip("\n")) for action in fix.do),
            )
            for fix in source.fixes
        ),
        symptom=source.symptom,
        transient=source.transient,
        phase=tuple(source.phase),
        tags=tuple(source.tags),
        collect=tuple(_collector(item, f"$.collect[{index}].pattern") for index, item in enumerate(source.collect)),
        facts=tuple(_derived(key, str(value)) for key, value in source.facts.items()),
        refine=tuple(Refinement(item.to, item.when) for item in source.refine),
        causes=tuple(source.causes),
        yields_to=tuple(source.yields_to),
        probes=tuple(ProbeUse(item) if isinstance(item, str) else ProbeUse(item.id, item.confirmed, item.refuted) for item in source.probes),
        references=tuple(source.references),
        origin=origin,
    )


def _expand(pattern: str, path: str) -> tuple[str, dict[str, str]]:
    try:
        regex, types = expand(pattern)
        compile_pattern(regex)
    except UnknownTypeError as error:
        raise _PartError(path, f"{error} in {pattern!r}") from error
    except PatternError as error:
        raise _PartError(path, f"not a linear-time regex: {error}") from error
    return regex, types


def _signature(item: SignatureSource, path: str) -> Signature:
    if item.detector:
        if item.pattern or item.detector not in DETECTORS:
            reason = "takes no pattern" if item.pattern else f"is none of {', '.join(sorted(DETECTORS))}"
            raise _PartError(path.replace(".pattern", ".detector"), f"the detector {item.detector} {reason}")
    elif not item.pattern:
        raise _PartError(path, "a signature needs a pattern (or a detector)")
    regex, types = _expand(item.pattern, path) if item.pattern else ("", DETECTORS[item.detector].types)
    try:
        found, ignore_case = cores(regex) if item.pattern else ((), False)
    except re.error as error:  # a flag in the middle, say: RE2 takes it, and Python's parser, which the cores are read off, does not
        raise _PartError(path, f"{error} in {item.pattern!r}") from error
    return Signature(
        pattern=regex,
        source=item.pattern or f"detector {item.detector}",
        detector=item.detector,
        cores=tuple(("i" if ignore_case else "s") + core for core in found),
        types=types,
        covers=item.covers,
        strength=item.strength,
        role=item.role,
        level=item.level,
        having=_listed(item.having),
        without=_listed(item.without),
        within=None if item.within == "all" else item.within,
        anywhere=item.anywhere,
    )


def _collector(item: CollectorSource, path: str) -> Collector:
    regex, types = _expand(item.pattern, path)
    return Collector(regex, types, None if item.within == "all" else item.within, item.pick)


def _derived(key: str, expression: str) -> Derived:
    name, _, kind = key.partition(":")
    return Derived(name.strip(), kind.strip() or "text", expression)


def _listed(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _example(item: ExampleSource | str) -> Example:
    if isinstance(item, str):
        return Example(item)
    return Example(item.text, {name: str(value) for name, value in item.facts.items()}, item.id)


def schema() -> dict[str, Any]:
    """Give the JSON Schema of a rule file, for editors and for `rules lint`."""
    document = msgspec.json.schema(RuleSource)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "aifix rule", **document}
