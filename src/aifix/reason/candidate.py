"""A candidate: one rule's hits in one document, on the way to a diagnosis."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aifix.fixes.source import SourceFile
    from aifix.match.exact import Hit
    from aifix.model import Document, Fact, ProbeResult, Rule, Step


class Candidate:
    """What the reasoner knows so far; turned into a frozen `Diagnosis` at the end."""

    def __init__(self, rule: Rule, hits: list[Hit]) -> None:
        """Begin with a rule and its hits."""
        self.rule = rule
        self.origin = rule
        """The rule whose signatures matched: refinement replaces `rule`."""
        self.hits = hits
        self.facts: dict[str, Fact] = {}
        self.support: list[int] = []
        self.steps: list[Step] = []
        self.probes: list[ProbeResult] = []
        self.sources: list[SourceFile] = []
        self.manager: Callable[[], object] | None = None
        self.cause: Candidate | None = None
        self.strength = 0.0
        self.span = 0

    @property
    def id(self) -> str:
        """The rule's id."""
        return self.rule.id

    @property
    def first(self) -> int:
        """Index of the first line that counts: a root wording's, where there is one."""
        return min((hit.line for hit in self.hits if self.is_root(hit)), default=self.hits[0].line)

    @property
    def lines(self) -> set[int]:
        """Indices of all lines hit."""
        return {hit.line for hit in self.hits}

    def is_root(self, hit: Hit) -> bool:
        """Tell whether a hit's wording can stand for a root cause."""
        return self._signature_role(hit) == "root"

    def _signature_role(self, hit: Hit) -> str:
        signatures = self.origin.signatures
        return signatures[hit.signature].role if hit.signature < len(signatures) else "root"

    @property
    def symptom(self) -> bool:
        """Whether this can only be a consequence: the rule says so, or every wording that matched does."""
        return self.rule.symptom or not any(self.is_root(hit) for hit in self.hits)

    @property
    def warning(self) -> bool:
        """Whether only lines were hit that runs survive."""
        return all(hit.survived for hit in self.hits)

    @property
    def fuzzy(self) -> bool:
        """Whether it was recognised by likeness only."""
        return all(hit.kind == "fuzzy" for hit in self.hits)

    def ranks(self, document: Document) -> tuple[int, ...]:
        """Ranks whose lines were hit."""
        return tuple(sorted({rank for hit in self.hits if (rank := document.lines[hit.line].rank) is not None}))


def named_by(patterns: Iterable[str], rule_id: str) -> bool:
    """Tell whether an id is one of some ids or globs."""
    return any(pattern == rule_id or ("*" in pattern and fnmatch.fnmatchcase(rule_id, pattern)) for pattern in patterns)
