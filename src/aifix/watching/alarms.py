"""Alarms: the lines that the watcher inside writes, and the diagnoses that the rule base makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from aifix.model import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aifix.model import Diagnosis

SOURCE = "aifix watch"


@dataclass(frozen=True)
class Alarm:
    """One alarm: the line as the rules know it, what it is about, and in which process."""

    line: str
    topic: str
    pid: int = 0
    rank: int | None = None


def of_event(event: dict[str, Any]) -> Alarm | None:
    """Read an alarm out of what the program told; None where it is none."""
    line = event.get("line")
    if event.get("kind") != "alarm" or not isinstance(line, str) or not line.startswith("watch: "):
        return None
    rank = event.get("rank")
    return Alarm(line.replace("\n", " ")[:2000], str(event.get("topic")), int(event.get("pid") or 0), rank if isinstance(rank, int) else None)


class Collected:
    """The alarms of a run; what several ranks tell counts once."""

    def __init__(self) -> None:
        self.alarms: list[Alarm] = []
        self.ranks: dict[str, list[int]] = {}

    def add(self, alarm: Alarm) -> bool:
        """Add an alarm, and tell whether it is a new one."""
        known = any(one.topic == alarm.topic for one in self.alarms)
        if alarm.rank is not None and alarm.rank not in self.ranks.setdefault(alarm.topic, []):
            self.ranks[alarm.topic].append(alarm.rank)
        if not known:
            self.alarms.append(alarm)
        return not known

    def diagnoses(self) -> list[Diagnosis]:
        """Give the diagnosis of each alarm, in their order."""
        return diagnoses(self.alarms, self.ranks)


def diagnoses(alarms: Sequence[Alarm], ranks: dict[str, list[int]] | None = None) -> list[Diagnosis]:
    """Diagnose alarms, each by itself: one is not another's consequence only because it came later."""
    from aifix import api

    found: list[Diagnosis] = []
    for number, alarm in enumerate(alarms):
        report = api.diagnose_text("\n" * number + alarm.line + "\n", source=SOURCE, genre="log")
        for one in report.diagnoses[:1]:
            where = tuple(sorted((ranks or {}).get(alarm.topic, [])))
            found.append(msgspec.structs.replace(one, ranks=where))
    return found


def spoken(alarm: Alarm) -> list[str]:
    """Say an alarm at once: its line, and what to try first."""
    made = diagnoses([alarm])
    if not made:
        return [alarm.line]
    first = f"; first to try: {made[0].fixes[0].title}" if made[0].fixes else ""
    rank = f" on rank {alarm.rank}" if alarm.rank is not None else ""
    return [alarm.line, f"  {made[0].id}{rank}{first}"]


def joined(report: Report | None, watched: Iterable[Diagnosis]) -> Report:
    """Put the alarms' diagnoses behind those of the failure; one diagnosis stands once."""
    base = report or Report(source=SOURCE, failed=False)
    known = {one.id for one in base.diagnoses}
    added = []
    for one in watched:
        if one.id not in known:
            known.add(one.id)
            added.append(one)
    if not added:
        return base
    return msgspec.structs.replace(base, failed=True, diagnoses=(*base.diagnoses, *added), unknown=base.unknown)
