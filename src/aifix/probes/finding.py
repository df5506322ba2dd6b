"""What a probe answers, and what it is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from aifix.model import Fact, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.probes.machine import Machine


class Finding(msgspec.Struct, frozen=True):
    """The answer of one probe.

    `confirmed` means that something is wrong here, or that the suspicion of a diagnosis holds; `refuted` that it is fine;
    `inconclusive` that it was looked at and tells nothing; `not-available` that it cannot be looked at here; `not-run` that
    nobody looked. `data` holds the figures, `evidence` lines to read.
    """

    status: Status
    summary: str
    data: dict[str, Any] = {}
    evidence: tuple[str, ...] = ()


def confirmed(summary: str, data: dict[str, Any] | None = None, evidence: tuple[str, ...] | list[str] = ()) -> Finding:
    """Answer that something is wrong."""
    return Finding("confirmed", summary, data or {}, tuple(evidence))


def refuted(summary: str, data: dict[str, Any] | None = None, evidence: tuple[str, ...] | list[str] = ()) -> Finding:
    """Answer that it is fine."""
    return Finding("refuted", summary, data or {}, tuple(evidence))


def unclear(summary: str, data: dict[str, Any] | None = None, evidence: tuple[str, ...] | list[str] = ()) -> Finding:
    """Answer that it tells nothing either way."""
    return Finding("inconclusive", summary, data or {}, tuple(evidence))


def absent(summary: str, data: dict[str, Any] | None = None) -> Finding:
    """Answer that it cannot be looked at here, and why."""
    return Finding("not-available", summary, data or {})


def not_run(summary: str) -> Finding:
    """Answer that nobody looked, and why."""
    return Finding("not-run", summary)


class Case:
    """What a probe is asked about: this machine, and the suspicion of a diagnosis with its facts (or none: just look)."""

    __slots__ = ("facts", "lines", "machine", "options", "suspicion")

    def __init__(
        self,
        machine: Machine,
        suspicion: str = "",
        facts: Mapping[str, Fact] | None = None,
        options: Mapping[str, Any] | None = None,
        lines: tuple[str, ...] = (),
    ) -> None:
        """Ask about a machine.

        Args:
            machine: what is looked at.
            suspicion: the id of the diagnosis.
            facts: what the log says.
            options: what the command line says.
            lines: the lines that prove the diagnosis.

        """
        self.machine = machine
        self.suspicion = suspicion
        self.facts: Mapping[str, Fact] = facts or {}
        self.options: Mapping[str, Any] = options or {}
        self.lines = lines

    def text(self, *names: str) -> str:
        """Give the printed text of the first fact known of these, without quotes around it; '' when there is none."""
        for name in names:
            known = self.facts.get(name)
            if known is not None and known.text:
                return known.text.strip().strip("'\"`")
        return ""

    def number(self, *names: str) -> int | None:
        """Give the first of these facts that is a whole number."""
        for name in names:
            known = self.facts.get(name)
            value = known.value if known is not None else None
            if isinstance(value, int) and not isinstance(value, bool):
                return value
            if known is not None and known.text.strip().isdigit():
                return int(known.text)
        return None

    def about(self, *ids: str) -> bool:
        """Tell whether the suspicion is one of these ids, or of these families (`host.`)."""
        return any(self.suspicion == one or (one.endswith(".") and self.suspicion.startswith(one)) for one in ids)
