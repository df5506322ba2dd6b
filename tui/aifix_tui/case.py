"""A case: a log that is open, what aifix says about it, and which of its lines prove what. No widgets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from aifix.show.safe import sanitise
from aifix_tui.past import Past

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aifix.model import Diagnosis, Document, Evidence, Report, Unknown
    from aifix.probes.probing import Probing
    from aifix_tui.logfile import LogFile

MARKS = 4
"""Ways of naming one rank that are looked for together."""
WRAPPED = 40
"""Lines of the file that one cleaned line may cover where a terminal had wrapped it."""


class Node(NamedTuple):
    """A diagnosis in its place: how deep below its cause it stands, or that it is a hint."""

    depth: int
    diagnosis: Diagnosis
    hint: bool = False


class Case:
    """What is known of an open log."""

    def __init__(self, log: LogFile, name: str, probing: Probing | None = None, past: Past | None = None, judged: Report | None = None) -> None:
        """Hold an open log that nobody has diagnosed yet.

        Args:
            log: the log.
            name: what to call it.
            probing: how this machine is to be looked at, where it is known who wrote the log.
            past: the case's place in the history.
            judged: the report, where it was made with more than the log: of a run that `aifix run` has supervised.

        """
        self.log = log
        self.name = sanitise(name)
        self.probing = probing
        self.past = past or Past()
        self._judged = judged
        self.document: Document | None = None
        self.report: Report | None = None
        self.examined = False
        """Whether the probes have spoken."""

    def diagnose(self) -> None:
        """Read and diagnose the log; takes its time, so it runs in a thread.

        Raises:
            OSError: it cannot be read.

        """
        from aifix import api

        document = api.read_file(self.log.path)
        report = self._judged or self._judge(document, None)
        if self.past.wanted:
            self.past.remember(report)
        self.report, self.document = report, document

    def examine(self, probing: Probing | None = None) -> Report:
        """Diagnose again, with this machine's answers to the passive probes of the diagnoses; runs in a thread.

        Args:
            probing: how to look, where the probes' progress is to be followed.

        """
        from aifix.probes.probing import Probing
        from aifix_tui.probing import LONG

        assert self.document is not None  # noqa: S101 - nobody can ask before
        return self._judge(self.document, probing or self.probing or Probing(local=False, limit=LONG))

    def rank(self) -> Report:
        """Diagnose again with what the history has learned meanwhile; runs in a thread."""
        assert self.document is not None  # noqa: S101 - nobody can ask before
        return self.examine() if self.examined else self._judge(self.document, None)

    def _judge(self, document: Document, probing: Probing | None) -> Report:
        from aifix import api
        from aifix_tui import past

        memory = self.past.memory()
        report = api.diagnose_document(document, probe=probing, memory=memory)
        if memory is not None:
            memory.tell()
        return past.again(report, self.past.incident) if self.past.restored and self.past.incident is not None else report

    def met(self) -> str:
        """Say when this failure was met before, or which failure of the history this is; empty where there is nothing to say."""
        from aifix_tui.past import described

        if self.past.restored and self.past.incident is not None:
            return sanitise(described(self.past.incident))
        history = self.report.history if self.report is not None else None
        return sanitise(" ".join(one.text for one in history)) if history else ""

    @property
    def failed(self) -> bool:
        """Whether a failure was seen."""
        return self.report is not None and self.report.failed

    def nodes(self) -> list[Node]:
        """Give the diagnoses as a tree, roots first, each above its consequences, hints last."""
        if self.report is None:
            return []
        found: list[Node] = []
        told: set[int] = set()
        ids = {diagnosis.id for diagnosis in self.report.diagnoses}

        def add(diagnosis: Diagnosis, depth: int) -> None:
            if id(diagnosis) in told:
                return
            told.add(id(diagnosis))
            found.append(Node(depth, diagnosis))
            for other in self.report.diagnoses if self.report else ():
                if other.caused_by == diagnosis.id:
                    add(other, depth + 1)

        for diagnosis in self.report.diagnoses:
            if diagnosis.caused_by not in ids or diagnosis.caused_by == diagnosis.id:
                add(diagnosis, 0)
        for diagnosis in self.report.diagnoses:  # two that name each other
            add(diagnosis, 0)
        return found + [Node(0, hint, hint=True) for hint in self.report.hints]

    def ranks(self) -> list[int]:
        """Give the ranks that lines were attributed to."""
        return sorted({line.rank for line in self.document.lines if line.rank is not None}) if self.document else []

    def lines_of(self, rank: int) -> list[int]:
        """Give the numbers of a rank's lines, of those that aifix read (of a large log it keeps what a diagnosis can need)."""
        return sorted({line.number for line in self.document.lines if line.rank == rank}) if self.document else []

    def rank_pattern(self, rank: int) -> re.Pattern[bytes] | None:
        """Give what begins a rank's lines, where it always is the same mark: then even the lines that aifix did not keep are known."""
        prefixes = {line.prefix for line in self.document.lines if line.rank == rank and line.prefix.strip()} if self.document else set()
        marks = {found[0] if (found := re.search(rf"\[?\b(?:rank|default)[ =:]?{rank}\b\]?", prefix, re.IGNORECASE)) else "" for prefix in prefixes}
        if not marks or "" in marks or len(marks) > MARKS:
            return None
        told = b"|".join(re.escape(mark.encode()) for mark in sorted(marks))
        return re.compile(rb"^[^\n]{0,160}?(?:" + told + rb")", re.MULTILINE)

    def proof(self, of: Diagnosis | Unknown) -> dict[int, str]:
        """Give the lines that prove a diagnosis, by number, with the text that the report shows; hard-wrapped ones whole."""
        return self._spread(of.evidence)

    def _spread(self, evidence: Iterable[Evidence]) -> dict[int, str]:
        proof: dict[int, str] = {}
        for item in evidence:
            proof[item.line] = max(proof.get(item.line, ""), item.text, key=len)
        for number, whole in list(proof.items()):
            first = self.log.text(number, whole).strip()
            at = whole.find(first) + len(first)
            if not first or at < len(first):
                continue
            for more in range(number + 1, number + WRAPPED):
                rest = whole[at:].lstrip()
                said = self.log.text(more).strip()
                if not said or not rest.startswith(said):
                    break
                proof.setdefault(more, said)
                at = len(whole) - len(rest) + len(said)
        return proof
