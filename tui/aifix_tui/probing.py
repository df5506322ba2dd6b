"""Probes that are run from the interface: one by itself, all of a report, each called off when somebody says so. No widgets."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import threading
import time
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Diagnosis
    from aifix.probes.finding import Finding
    from aifix.probes.probing import Probing
    from aifix.probes.registry import Probe
    from aifix.probes.run import Follower

LONG = 10.0
"""Seconds that the passive probes may take where somebody asked for them and waits."""
LOOK = 0.1
"""Seconds between two looks whether one was called off."""


class Going:
    """Probes under way, from their start until they have answered or were called off."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._off = threading.Event()

    @property
    def seconds(self) -> float:
        """How long they have run."""
        return time.monotonic() - self._started

    @property
    def over(self) -> bool:
        """Whether they were called off."""
        return self._off.is_set()

    def call_off(self) -> None:
        """Call them off."""
        self._off.set()

    def wait(self, seconds: float) -> bool:
        """Wait for their being called off."""
        return self._off.wait(seconds)


class _Answer(msgspec.Struct):
    status: str
    summary: str
    data: dict[str, object] = {}
    evidence: tuple[str, ...] = ()


class _Answers(msgspec.Struct):
    probes: tuple[_Answer, ...]


def followed(probing: Probing | None, follower: Follower) -> Probing:
    """Give a way to look at this machine that tells of its progress."""
    from aifix.probes.probing import Probing

    if probing is None:
        return Probing(local=False, limit=LONG, follower=follower)
    return Probing(probing.python, probing.producers, local=probing.local, limit=LONG, piped=probing.piped, follower=follower)


def passive(probe: Probe, diagnosis: Diagnosis | None, going: Going) -> Finding | None:
    """Run one passive probe for a diagnosis, or for none; None when it was called off. Runs in a thread."""
    from aifix import api
    from aifix.probes import run, target
    from aifix.probes.finding import Case
    from aifix.probes.machine import Machine

    machine = Machine(target.find(), catalogues=lambda: api.rule_base().catalogues)
    lines = tuple(item.text for item in diagnosis.evidence[:8]) if diagnosis is not None else ()
    case = Case(machine, diagnosis.id if diagnosis is not None else "", diagnosis.facts if diagnosis is not None else None, lines=lines)
    finding = run.passive([(probe, case)], LONG, _Alone(going))[0]
    return None if going.over else finding


def looked(asked: Sequence[tuple[str, str]], going: Going) -> list[Finding] | None:
    """Ask passive probes about rules, without a log; None when they were called off. Runs in a thread."""
    from aifix import api
    from aifix.probes import run, target
    from aifix.probes.finding import Case
    from aifix.probes.machine import Machine
    from aifix.probes.registry import BY_ID

    machine = Machine(target.find(), catalogues=lambda: api.rule_base().catalogues)
    found = run.passive([(BY_ID[probe], Case(machine, rule_id)) for probe, rule_id in asked], LONG, _Alone(going))
    return None if going.over else found


class _Alone:
    """Follows one probe only to call it off; implements `aifix.probes.run.Follower`."""

    def __init__(self, going: Going) -> None:
        self._going = going

    def began(self, probes: object) -> None:
        pass

    def answered(self, probe: str, finding: Finding) -> None:
        pass

    def cancelled(self) -> bool:
        return self._going.over


def active(probe_id: str, going: Going) -> Finding | None:
    """Run an active probe in a process of its own, which is killed with all below it when it is called off; None then. Runs in a thread."""
    from aifix.probes.finding import Finding, absent
    from aifix.probes.runner import kill

    command = [sys.executable, "-m", "aifix", "probe", probe_id, "--active", "--format", "json"]
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, start_new_session=True)
        except OSError as error:
            return absent(f"it does not start: {error.strerror or error}")
        while process.poll() is None:
            if going.wait(LOOK):
                kill(process)
                return None
        output.seek(0)
        with contextlib.suppress(msgspec.MsgspecError):
            said = msgspec.json.decode(output.read(), type=_Answers).probes
            if said:
                return Finding(said[0].status, said[0].summary, said[0].data, said[0].evidence)  # type: ignore[arg-type]  # one of ours
    return absent(f"it gave no answer (exit status {process.returncode})")
