"""What a case has to do with the history: the run that it is about, when it was met before, and what people say about its fixes. No widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

    from aifix.kb import Incident, Memory, Store
    from aifix.kb.record import Run
    from aifix.model import Diagnosis, Report, Rule


class Told(NamedTuple):
    """What an answer did: the number of the failure in the history, and the fix' chance before and after (None: no rule has it)."""

    number: int
    before: float | None
    after: float | None


class Past:
    """A case's place in the history. Whatever is wrong with the file is said, and stops nothing."""

    def __init__(self, run: Run | None = None, *, folder: str = "", incident: Incident | None = None, wanted: bool = False) -> None:
        """Place a case.

        Args:
            run: the run that the log is of; a file of which nothing is known by default.
            folder: the working folder of that run.
            incident: the failure of the history that the case is, where it is one already.
            wanted: whether a failure is remembered by itself, as the pipe's is; else only once somebody says what helped.

        """
        self.run = run
        self.folder = folder
        self.incident = incident
        self.restored = incident is not None and run is None
        """Whether the case was opened from the history, which keeps the lines of proof alone."""
        self.wanted = wanted
        self.messages: list[str] = []

    def memory(self) -> Memory | None:
        """Give the history; None where it is switched off."""
        from aifix import kb
        from aifix.kb.memory import switched_off

        return None if switched_off() else kb.Memory(folder=self.folder, again=self.run is None or not self.run.local, say=self.messages.append)

    def remember(self, report: Report) -> Incident | None:
        """Write the case into the history, unless it stands there; None where that cannot be done."""
        from aifix.kb import record

        memory = self.memory()
        if self.incident is None and memory is not None and report.failed:
            run = self.run or record.Run(how="diagnose", folder=memory.folder, local=False)
            self.incident = memory.remember(report, run)
        return self.incident

    def answer(self, report: Report, fix: str, *, worked: bool) -> Told | None:
        """Write whether a fix ended the failure; None where it cannot be written, of which `messages` says why."""
        from aifix import kb

        incident = self.remember(report)
        if incident is None:
            self.messages = self.messages or ["the history is switched off (AIFIX_NO_HISTORY)"]
            return None
        try:
            with kb.open_store() as store:
                before = _chance(store, incident, fix)
                kb.record_outcome(store, incident, fix, worked=worked)
                return Told(incident.number, before, _chance(store, incident, fix))
        except kb.StoreError as error:
            self.messages.append(str(error))
            return None


def _chance(store: Store, incident: Incident, fix: str) -> float | None:
    from aifix import api
    from aifix.kb import learning

    rule = api.rule_base().get(incident.diagnosis)
    return learning.chance_now(store, rule, fix, incident.project) if rule is not None else None


# ------------------------------------------------------------ failures of the history, opened again


def recent(most: int = 8) -> list[Incident]:
    """Give the last failures of the history, newest first; none where there is no history, or it cannot be read."""
    from aifix import kb
    from aifix.kb.memory import switched_off

    if switched_off():
        return []
    try:
        store = kb.open_for_reading()
        if store is None:
            return []
        with store:
            return kb.recent(store, most)
    except kb.StoreError:
        return []


def find(number: int) -> Incident | None:
    """Give one failure of the history with everything that is known of it.

    Raises:
        StoreError: the history cannot be read.

    """
    from aifix import kb

    store = kb.open_for_reading()
    if store is None:
        return None
    with store:
        return kb.get(store, number)


def latest(command_key: str, since: float) -> Incident | None:
    """Give the failure that a supervised command has just left in the history."""
    return next((one for one in recent(4) if one.command_key == command_key and one.at >= since), None)


def written(incident: Incident, path: Path) -> None:
    """Write what the history kept of a failure's log: its lines of proof."""
    path.write_text("".join(f"{item.text}\n" for item in incident.evidence) or f"{incident.title}\n", "utf-8", errors="replace")


def again(report: Report, incident: Incident) -> Report:
    """Give the report of a failure of the history: what its lines say today, or, where they alone do not tell, what was said then."""
    if not report.diagnoses or report.diagnoses[0].id != incident.diagnosis:
        from aifix import api

        rule = api.rule_base().get(incident.diagnosis)
        if rule is None:
            return msgspec.structs.replace(report, failed=True, history=())
        report = msgspec.structs.replace(report, failed=True, diagnoses=(_said_then(incident, rule),), unknown=None)
    first = msgspec.structs.replace(report.diagnoses[0], confidence=incident.confidence or report.diagnoses[0].confidence)
    return msgspec.structs.replace(report, failed=True, diagnoses=(first, *report.diagnoses[1:]), history=())


def _said_then(incident: Incident, rule: Rule) -> Diagnosis:
    from aifix.model import Diagnosis, Evidence, Fact, Fix, Match, Step
    from aifix.show.handbook import without_case

    page = without_case(rule)
    templates = {one.id: one for one in page.fixes}
    fixes = [(one, templates[one.id]) for one in incident.fixes if one.id in templates]
    return Diagnosis(
        id=incident.diagnosis,
        title=incident.title,
        severity=rule.severity,
        confidence=incident.confidence,
        symptom=rule.symptom,
        match=Match("exact", 1.0, "as it was recognised then"),
        evidence=tuple(Evidence(number, item.text) for number, item in enumerate(incident.evidence, start=1)),
        facts={name: Fact(fact.text, fact.value, fact.unit) for name, fact in incident.facts.items()},
        location=None,
        ranks=(),
        caused_by=None,
        explanation=page.explain,
        fixes=tuple(Fix(one.id, one.title, one.score, like.effort, like.risk, like.do, like.why) for one, like in fixes),
        references=rule.references,
        derivation=(Step("history", f"failure {incident.number}, as it was diagnosed then"),),
    )


def described(incident: Incident) -> str:
    """Say in one line which failure of the history it is."""
    from aifix.kb.recall import day

    parts = [f"failure {incident.number}, {day(incident.at)}"]
    if incident.command:
        parts.append(f"$ {incident.command}")
    if incident.ended_at:
        parts.append("gone since " + day(incident.ended_at).removeprefix("on "))
    return " · ".join(parts)
