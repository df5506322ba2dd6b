"""The clock of the machine is set forward and back between runs and in the midst of one: nothing is lost, and nothing takes less than no time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.kb.parts import AIFIX, CRASH, aifix, environ, incident

from aifix import kb
from aifix.kb import answers, incidents, recall

if TYPE_CHECKING:
    from pathlib import Path

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="who writes into the pipe is seen in /proc")
DAY = 86400.0
SET = """
import os, time
real, begun, shifts = time.time, time.monotonic(), [float(part) for part in os.environ["SHIFTS"].split()]

def jumping(calls=[0]):
    calls[0] += 1
    return real() + shifts[calls[0] % len(shifts)]

time.time = jumping
time.time_ns = lambda: int(jumping() * 1e9)
"""
"""A clock that a `sitecustomize` sets: each look at it is the next of some shifts, in seconds."""
PROGRAM = "import os, sys, time\nprint('step', flush=True)\ntime.sleep(0.5)\n" + f"if not os.path.exists('fixed'):\n    sys.exit({CRASH!r})\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM)
    (tmp_path / "clock").mkdir()
    (tmp_path / "clock" / "sitecustomize.py").write_text(SET)
    return folder


def shifted(work: Path, *shifts: float) -> dict[str, str]:
    """Give variables under which Python's clock is wrong."""
    return {"PYTHONPATH": str(work.parent / "clock"), "SHIFTS": " ".join(map(str, shifts))}


def piped(home: Path, work: Path, *shifts: float) -> str:
    """Run the program in the pipe, and give what aifix says of it."""
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} train.py 2>&1 | {' '.join(AIFIX)}"],
        capture_output=True, text=True, cwd=work, timeout=60, check=False, env=environ(home, **shifted(work, *shifts)),
    )  # fmt: skip
    assert done.stdout.startswith("step\n")
    assert "fault of aifix" not in done.stderr
    return " ".join(done.stderr.split())


@linux
def test_a_failure_of_a_time_to_come_is_met_and_goes(home: Path, work: Path) -> None:
    assert "You met this" not in piped(home, work, 400 * DAY)
    assert "You met this on" in piped(home, work, 0.0)
    assert "You met this 2 times" in piped(home, work, -400 * DAY)
    (work / "fixed").touch()
    assert "(cuda.oom) is gone" in piped(home, work, -400 * DAY)
    assert "gone" not in piped(home, work, 0.0)
    for command in (["history"], ["history", "stats"], ["history", "show", "1"], ["history", "show", "3"], ["report"], ["history", "export"]):
        done = aifix(home, *command, cwd=work, **shifted(work, -900 * DAY))
        assert done.status == 0, done.err
        assert not re.search(r"(?<![\w.-])-\d", done.out), done.out


@linux
def test_what_changed_since_a_time_to_come_is_not_guessed(home: Path, work: Path) -> None:
    piped(home, work, 2 * DAY)
    (work / "train.py").write_text(PROGRAM + "# smaller\n")
    (work / "fixed").touch()
    assert "is gone; changed since: the clock was set back, so that files that changed cannot be told" in piped(home, work, 0.0)


@linux
@pytest.mark.parametrize("shifts", [(0.0, -DAY, DAY), (DAY, 0.0)])
def test_a_clock_that_jumps_in_the_midst_of_a_run(home: Path, work: Path, shifts: tuple[float, ...]) -> None:
    assert "cuda.oom" in piped(home, work, *shifts)
    for command in ("run", "watch"):
        done = aifix(home, command, "--stall", "20s", "--", sys.executable, "train.py", cwd=work, **shifted(work, *shifts))
        assert done.status == 1
        assert "cuda.oom" in done.err
        assert "nothing was printed" not in done.err
    for line in aifix(home, "history", "export").out.splitlines()[1:]:
        assert 0.4 < json.loads(line)["incident"]["seconds"] < 60


@linux
def test_attempts_of_one_run_are_not_met_before_though_the_clock_goes_back(home: Path, work: Path) -> None:
    lost = "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, remote process exited or there was a network error"
    command = ["run", "--retry", "2", "--", "sh", "-c", f"echo '{lost}' >&2; exit 1"]
    for shifts in ((0.0, -DAY), (DAY, 0.0)):
        done = aifix(home, *command, cwd=work, AIFIX_SEED="1", **shifted(work, *shifts))
        assert done.status == 1
        met = "You met this" in done.err
        assert met is (shifts[0] > 0), done.err  # the second run met those of the first


def test_the_last_word_on_a_fix_holds_whatever_the_clock_says(store: kb.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    kb.add(store, incident())
    (one,) = kb.recent(store)
    for now, worked in ((2e9, True), (1e9, False), (1.5e9, True), (0.0, False)):
        monkeypatch.setattr(answers.time, "time", lambda now=now: now)
        kb.record_outcome(store, one, "checkpointing", worked=worked)
        (said,) = incidents.outcomes(store)
        assert said.worked is worked


def test_an_incident_of_a_time_to_come_was_there_before_unless_it_is_the_runs_own() -> None:
    import time

    import msgspec

    now = time.time()
    at = msgspec.structs.replace
    one = at(incident(), number=3)
    assert recall.is_earlier(at(one, at=now - 5), now - 1)
    assert not recall.is_earlier(at(one, at=now - 0.5), now - 1)  # another aifix wrote it meanwhile
    assert recall.is_earlier(at(one, at=now + 500), now - 1)
    assert not recall.is_earlier(at(one, at=now + 500), now - 1, {3})
