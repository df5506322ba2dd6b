"""Histories and runs for the tests of the knowledge base."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from aifix import api, kb
from aifix.kb import incidents, record
from aifix.kb.nouns import Cited, Environment, Incident, Noted, Offered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aifix.model import Report

AIFIX = [sys.executable, "-m", "aifix"]
NOW = 1_790_000_000.0
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of which 1.00 GiB is free."
CRASH = f"""Traceback (most recent call last):
  File "/srv/project/train.py", line 12, in step
    loss = model(batch)
{OOM}
"""
WORDS = ("nccl", "watchdog", "loader", "worker", "tokenizer", "checkpoint", "gradient", "optimizer", "attention", "embedding", "shard", "rank")


def report(log: str = CRASH) -> Report:
    return api.diagnose_text(log)


def incident(log: str = CRASH, *, at: float = NOW, **run: object) -> Incident:
    return record.incident(report(log), record.Run(**{"how": "run", "arguments": ("python", "train.py"), "folder": "/srv/project", **run}), at=at)  # type: ignore[arg-type]


def generated(count: int, seed: int = 7) -> Iterator[Incident]:
    """Make incidents as a busy team's years would: few diagnoses make most of them, and many places occur once."""
    chance = random.Random(seed)  # noqa: S311 - the same history every time
    rules = sorted(api.rule_base())
    packages = {f"package-{number}": f"{number % 7}.{number % 13}" for number in range(120)}
    environments = [Environment("linux x86_64 6.1", "3.11", "/venv/bin/python", packages | {"torch": f"2.{number}"}) for number in range(8)]
    for number in range(count):
        diagnosis = rules[min(int(chance.expovariate(0.05)), len(rules) - 1)]
        words = chance.choices(WORDS, k=12)
        place = min(int(chance.expovariate(0.002)), 5000)
        yield Incident(
            uid=f"{number:016x}",
            at=NOW - (count - number) * 300.0,
            host=f"node-{chance.randrange(16)}",
            how="pipe",
            command=f"python train_{place % 40}.py --seed {number}",
            command_key=f"{place:016x}",
            folder="/srv/project",
            project=f"project-{place % 12}",
            seconds=chance.expovariate(1 / 900),
            environment=environments[number % 8],
            diagnosis=diagnosis,
            title=f"{diagnosis} with {words[0]}",
            confidence=0.9,
            fingerprint=f"{place:08x}{diagnosis[:8]}",
            location=f"train_{place % 40}.py in step_{place}, line {place}",
            facts={"requested": Noted(f"{number}.00 GiB", number << 30, "bytes"), "name": Noted(words[1], words[1])},
            evidence=tuple(Cited(number, f"RuntimeError: {' '.join(words)} at step {number}: {'lorem ipsum ' * 10}") for _ in range(3)),
            fixes=(Offered("first", "The first fix", 0.6), Offered("second", "The second fix", 0.4)),
            ended_at=NOW if number % 3 else None,
        )


def fill(path: Path, count: int) -> None:
    with kb.open_store(str(path)) as store, store.writing() as connection:
        for number, one in enumerate(generated(count)):
            incidents.insert(connection, one)
            if not number % 4:
                made = incidents.outcome(one, ("first", "second")[number % 8 == 0], worked=number % 3 == 0, at=one.at)
                incidents.put_outcomes(connection, [made])


class Done(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


def environ(home: Path, **more: str) -> dict[str, str]:
    """Give an environment whose history lies below a folder of the test."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIFIX", "COLUMNS", "COV_"))}
    return kept | {"AIFIX_HOME": str(home), "AIFIX_NO_PROBE": "1", "LC_ALL": "C.UTF-8", "COLUMNS": "100"} | more


def aifix(home: Path, *arguments: str, data: str = "", cwd: Path | None = None, **more: str) -> Done:
    """Run aifix with a history of its own."""
    done = subprocess.run(
        [*AIFIX, *arguments], input=data, capture_output=True, text=True, timeout=120, check=False, cwd=cwd or home.parent, env=environ(home, **more)
    )
    return Done(done.returncode, done.stdout, done.stderr)
