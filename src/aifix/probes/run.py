"""Run probes: each in a thread, all together within a time; what fails or hangs is an answer too."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING

from aifix.probes.finding import Case, Finding, absent, not_run
from aifix.probes.probing import PASSIVE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.probes.registry import Probe


def passive(asked: Sequence[tuple[Probe, Case]], limit: float = PASSIVE_LIMIT) -> list[Finding]:
    """Run passive probes beside each other; one that is not ready in time is given up, and says so."""
    answers: queue.SimpleQueue[tuple[int, Finding]] = queue.SimpleQueue()
    deadline = time.monotonic() + limit
    for index, (probe, case) in enumerate(asked):
        threading.Thread(target=_answer, args=(index, probe, case, answers), daemon=True, name=f"probe {probe.id}").start()
    found: dict[int, Finding] = {}
    while len(found) < len(asked):
        try:
            index, finding = answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            break
        found[index] = finding
    late = not_run(f"gave no answer within {limit:g} s")
    return [found.get(index, late) for index in range(len(asked))]


def one(probe: Probe, case: Case) -> Finding:
    """Run one probe here and now; whatever it raises is an answer."""
    try:
        return probe.load()(case)
    except Exception as error:  # noqa: BLE001 - a probe looks at strange machines; its failure must not hide the report
        return absent(f"the probe itself failed: {type(error).__name__}: {error}")


def _answer(index: int, probe: Probe, case: Case, answers: queue.SimpleQueue[tuple[int, Finding]]) -> None:
    answers.put((index, one(probe, case)))
