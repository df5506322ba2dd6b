"""Which interpreter the run used, seen while it lives: what the probes ask after a failure."""

from __future__ import annotations

import os

from aifix.probes.producer import Producer
from aifix.supervise import processes

LOOKS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 60.0)
"""Seconds after the start at which it is looked for a Python among the run's processes."""


class Witness:
    """Looks at the run's processes a few times, until one of them is a Python."""

    def __init__(self) -> None:
        self.producers: list[Producer] = []
        self._next = 0
        self._done = False

    def due(self, passed: float) -> float | None:
        """Give the seconds until the next look; None when no more is needed."""
        if self._done or self._next >= len(LOOKS):
            return None
        return max(0.0, LOOKS[self._next] - passed)

    def look(self, root: int) -> None:
        """Look once."""
        self._next += 1
        listed = [root] if self._next == 1 else [process.pid for _, process in processes.tree(root)]
        found = [producer for producer in map(_describe, listed[:64]) if producer is not None]
        pythons = [producer for producer in found if "python" in os.path.basename(producer.exe)]
        self.producers = [*pythons[:4], *found[:1]] or self.producers
        self._done = bool(pythons)


def _describe(pid: int) -> Producer | None:
    try:
        exe, cwd = os.readlink(f"/proc/{pid}/exe"), os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None
    return Producer(pid, exe, processes.read_file(f"/proc/{pid}/cmdline"), cwd, processes.read_file(f"/proc/{pid}/environ"))
