"""A supervised run that is watched from inside: its alarms are said as they come."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aifix import injected
from aifix.watching.alarms import Collected, of_event, spoken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aifix.supervise.plan import Outcome

MODULE = "watching"
LOOK = 0.25
"""Seconds between two looks at what the program told."""


@dataclass
class Watched:
    """How a watched run ended."""

    outcome: Outcome
    collected: Collected
    steps: int = 0
    samples: int = 0
    share: float = 0.0
    """Of the time, what watching took, in the process that it took most of."""
    reached: bool = False
    """Whether a Python of the run let itself be watched."""
    broken: str = ""
    """What went wrong inside, where something did."""
    hindered: str = ""
    """Why it could not be watched at all."""


def watch(
    command: Sequence[str], *, budget: float = 0.0, environ: Mapping[str, str] | None = None, say: Callable[[str], None] | None = None, **options: Any
) -> Watched:
    """Run a command and watch what it trains.

    Args:
        command: the program and its arguments.
        budget: share of the time that samples may take; 0: the default.
        environ: the environment; our own by default.
        say: takes what is to be said; by default it goes to standard error.
        options: those of `supervise.run`.

    Raises:
        OSError: the log cannot be written.

    """
    from aifix.supervise.plan import Plan
    from aifix.supervise.supervisor import Supervisor

    try:
        folder = tempfile.mkdtemp(prefix="aifix-watch-")
    except OSError as error:  # the run is worth more than the watching
        hindered = f"no temporary folder can be made: {error.strerror or error}"
        return Watched(Supervisor(Plan(tuple(command), environ=environ, **options), say).run(), Collected(), hindered=hindered)
    try:
        inside = injected.inside(os.environ if environ is None else environ, folder, [MODULE])
        if budget:
            inside["AIFIX_WATCH_BUDGET"] = str(budget)
        supervisor = Supervisor(Plan(tuple(command), environ=inside, **options), say)
        listening = _Listening(folder, supervisor.say_lines)
        try:
            listening.start()
        except RuntimeError:
            return Watched(supervisor.run(), Collected(), hindered="no thread can be started")
        try:
            outcome = supervisor.run()
        finally:
            listening.end()
        return listening.watched(outcome)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Listening(threading.Thread):
    """Reads what the program tells, and says its alarms."""

    def __init__(self, folder: str, say_lines: Callable[[list[str]], None]) -> None:
        super().__init__(name="aifix-watch", daemon=True)
        self._events = injected.Events(folder)
        self._say_lines = say_lines
        self._over = threading.Event()
        self._collected = Collected()
        self._summaries: list[dict[str, Any]] = []
        self._reached = False
        self._broken = ""

    def run(self) -> None:
        """Listen until the end."""
        while not self._over.wait(LOOK):
            self._look()

    def end(self) -> None:
        """Stop, and read what is still there."""
        self._over.set()
        self.join()
        self._look()

    def _look(self) -> None:
        for event in self._events.read():
            kind = event["kind"]
            if kind == "alarm":
                alarm = of_event(event)
                if alarm is not None and self._collected.add(alarm):
                    self._say_lines(spoken(alarm))
            elif kind == "summary":
                self._summaries.append(event)
            elif kind == "broken":
                self._broken = self._broken or f"{event.get('what')}: {event.get('error')}"
            elif kind == "alive":
                self._reached = True

    def watched(self, outcome: Outcome) -> Watched:
        """Sum up."""
        most = max(self._summaries, key=lambda one: int(one.get("steps") or 0), default={})
        share = max((float(one.get("share") or 0.0) for one in self._summaries if one.get("steps")), default=0.0)
        steps, samples = int(most.get("steps") or 0), int(most.get("samples") or 0)
        return Watched(outcome, self._collected, steps, samples, share, self._reached, self._broken)
