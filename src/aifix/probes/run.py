"""Run probes: each in a thread, all together within a time; what fails or hangs is an answer too."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, Protocol

from aifix.probes.finding import Case, Finding, absent, not_run
from aifix.probes.probing import PASSIVE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.probes.registry import Probe


LOOK = 0.1
"""Seconds between two questions to a follower whether to go on."""


class Follower(Protocol):
    """Follows probes as they go, on the thread that asked for them."""

    def began(self, probes: Sequence[str]) -> None:
        """Take note that these probes run now; one may run for several diagnoses."""

    def answered(self, probe: str, finding: Finding) -> None:
        """Take note of an answer."""

    def cancelled(self) -> bool:
        """Tell whether to wait no longer."""


def passive(asked: Sequence[tuple[Probe, Case]], limit: float = PASSIVE_LIMIT, follower: Follower | None = None) -> list[Finding]:
    """Run passive probes beside each other; one that is not ready in time, or when they are called off, is given up, and says so."""
    answers: queue.SimpleQueue[tuple[int, Finding]] = queue.SimpleQueue()
    deadline = time.monotonic() + limit
    for index, (probe, case) in enumerate(asked):
        thread = threading.Thread(target=_answer, args=(index, probe, case, answers), daemon=True, name=f"probe {probe.id}")
        try:
            thread.start()
        except RuntimeError:  # a limit of processes, or of memory
            answers.put((index, not_run("no thread can be started here")))
    if follower is not None:
        follower.began([probe.id for probe, _ in asked])
    found: dict[int, Finding] = {}
    late = not_run(f"gave no answer within {limit:g} s")
    while len(found) < len(asked):
        left = max(0.0, deadline - time.monotonic())
        try:
            index, finding = answers.get(timeout=left if follower is None else min(left, LOOK))
        except queue.Empty:
            if follower is not None and follower.cancelled():
                late = not_run("called off")
                break
            if follower is None or time.monotonic() >= deadline:
                break
            continue
        found[index] = finding
        if follower is not None:
            follower.answered(asked[index][0].id, finding)
    return [found.get(index, late) for index in range(len(asked))]


def one(probe: Probe, case: Case) -> Finding:
    """Run one probe here and now; whatever it raises is an answer."""
    try:
        return probe.load()(case)
    except Exception as error:  # noqa: BLE001 - a probe looks at strange machines; its failure must not hide the report
        return absent(f"the probe itself failed: {type(error).__name__}: {error}")


def _answer(index: int, probe: Probe, case: Case, answers: queue.SimpleQueue[tuple[int, Finding]]) -> None:
    answers.put((index, one(probe, case)))
