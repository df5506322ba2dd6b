"""Whether to start again, when, and what the new attempt is told."""

from __future__ import annotations

import os
import random
import re
from typing import TYPE_CHECKING

from aifix.supervise.checkpoints import newest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aifix.model import Diagnosis, Report
    from aifix.supervise.plan import Outcome

LONGEST = 300.0
"""Seconds that are waited at most."""
JITTER = 0.25
"""Share of the wait that is added by chance: many ranks that failed together must not come back in one moment."""
_NODES = ("node", "peer_host", "peer", "remote_host", "host", "lost_node", "failed_node")
_GPUS = ("gpu", "gpu_index", "device")
_PLACE = re.compile(r"^(?:[\w.]+-)?([A-Za-z][\w.-]*\w|\d+\.\d+\.\d+\.\d+|[0-9a-fA-F]*:[0-9a-fA-F:]+\w)(?:<\d+>|:\d+)?$")
_LOCAL = {"localhost", "127.0.0.1", "::1", "0.0.0.0", "::"}  # noqa: S104 - never bound


def randomness(environ: Mapping[str, str]) -> random.Random:
    """Give the source of jitter: the same one every time under AIFIX_SEED."""
    seed = environ.get("AIFIX_SEED", "")
    return random.Random(seed) if seed else random.Random()  # noqa: S311 - nothing secret


def wait_before(restart: int, first: float, chance: random.Random) -> float:
    """Give the seconds before the n-th restart: doubling, with jitter."""
    return float(min(first * 2.0 ** (restart - 1), LONGEST) * (1.0 + JITTER * chance.random()))


def verdict(outcome: Outcome, report: Report) -> tuple[Diagnosis | None, str]:
    """Decide whether starting again unchanged may work: (the transient diagnosis, '') or (None, why not)."""
    if outcome.interrupted or outcome.signal == 2:
        return None, "it was asked to end"
    if outcome.stalled:
        return None, "it hung, and the reason is not known"
    first = report.diagnoses[0] if report.diagnoses else None
    if first is None:
        return None, "the failure is not known, so it may well be a bug"
    if not first.transient:
        return None, f"{first.id} does not pass by itself"
    if first.symptom and first.caused_by:
        return None, f"{first.id} is only a consequence of {first.caused_by}"
    return first, ""


def named_places(diagnosis: Diagnosis) -> list[str]:
    """Give the nodes and GPUs that the evidence names: `node7`, `10.0.0.3`, `gpu:2`."""
    found: list[str] = []
    for name in _NODES:
        fact = diagnosis.facts.get(name)
        text = fact.text.strip("'\"[]() ") if fact is not None else ""
        match = _PLACE.match(text)
        if match and match[1].lower() not in _LOCAL and not diagnosis.id.startswith("hf."):
            found.append(match[1])
    for name in _GPUS:
        fact = diagnosis.facts.get(name)
        digits = re.fullmatch(r"(?:cuda:|GPU ?)?(\d+)", fact.text.strip()) if fact is not None else None
        if digits:
            found.append(f"gpu:{int(digits[1])}")
            break
    return list(dict.fromkeys(found))


def environment(
    base: Mapping[str, str], *, attempt: int, token: str, checkpoint_dir: str, excluded: list[str], say: Callable[[str], None]
) -> dict[str, str]:
    """Give the environment of an attempt.

    Args:
        base: what it inherits.
        attempt: its number, from 1.
        token: marks the processes of this run.
        checkpoint_dir: where to look for the newest whole checkpoint.
        excluded: nodes and GPUs that failed in earlier attempts.
        say: tells of checkpoints that are passed over.

    """
    environ = dict(base)
    environ["AIFIX_ATTEMPT"] = str(attempt)
    environ["AIFIX_RUN"] = token
    for name in ("AIFIX_CHECKPOINT", "AIFIX_EXCLUDE"):
        if attempt > 1:
            environ.pop(name, None)
    if checkpoint_dir:
        found = newest(checkpoint_dir)
        for path in found.cut:
            say(f"{os.path.basename(path)} is newer and incomplete: passed over")
        if found.path:
            environ["AIFIX_CHECKPOINT"] = found.path
    if excluded:
        given = [place for place in base.get("AIFIX_EXCLUDE", "").split(",") if place]
        environ["AIFIX_EXCLUDE"] = ",".join(dict.fromkeys([*given, *excluded]))
    return environ
