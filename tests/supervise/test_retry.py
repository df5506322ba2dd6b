"""Restarts: only what is transient, with what the job needs to resume."""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import sys
import time
import zipfile
from typing import TYPE_CHECKING

import pytest
from tests.supervise.parts import NCCL_REMOTE, OOM, alive, start, supervise

from aifix import api
from aifix import supervise as supervisor
from aifix.supervise import retry
from aifix.supervise.checkpoints import newest
from aifix.supervise.plan import Outcome

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="/bin/sh")


def failing(text: str, until: int, folder: Path) -> list[str]:
    """Give a command that prints `text` and fails before its attempt number `until`."""
    (folder / "message").write_text(text + "\n", encoding="utf-8")
    return [
        "--",
        "sh",
        "-c",
        f'echo "attempt $AIFIX_ATTEMPT exclude=$AIFIX_EXCLUDE from=$AIFIX_CHECKPOINT"; [ "$AIFIX_ATTEMPT" -ge {until} ] && exit 0; cat {folder}/message; exit 1',
    ]


def test_transient_failure_is_started_again(tmp_path: Path) -> None:
    started = time.monotonic()
    done = supervise("--retry", "3", *failing(NCCL_REMOTE, 2, tmp_path), AIFIX_SEED="7")
    assert done.status == 0
    assert time.monotonic() - started >= 2.0
    assert "attempt 1 of 4 ended with 1" in done.err
    assert "dist.nccl-remote" in done.err
    assert "starting again in 2." in done.err
    assert "ended well" in done.err
    assert "at attempt 2" in done.err
    assert b"attempt 2 exclude=node7.cluster from=\n" in done.out
    assert "to be left out: node7.cluster" in done.err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (OOM, "does not pass by itself"),
        ('Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nZeroDivisionError: division by zero', "not started again"),
        ("all quiet", "the failure is not known"),
    ],
)
def test_bugs_and_lack_of_memory_are_not(text: str, why: str, tmp_path: Path) -> None:
    done = supervise("--retry", "3", *failing(text, 9, tmp_path))
    assert done.status == 1
    assert done.out.count(b"attempt") == 1
    assert why in done.err


def test_default_is_no_restart(tmp_path: Path) -> None:
    done = supervise(*failing(NCCL_REMOTE, 9, tmp_path))
    assert done.out.count(b"attempt 1 ") == 1
    assert "attempt 1 of" not in done.err


def run(command: list[str], **options: object) -> tuple[Outcome, list[str]]:
    said: list[str] = []
    outcome = supervisor.run(command[1:] if command[0] == "--" else command, say=said.append, probe=False, **options)  # type: ignore[arg-type]
    return outcome, said


def test_gives_up_after_the_last_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    outcome, said = run(failing(NCCL_REMOTE, 99, tmp_path), retry=2, backoff=0.05)
    assert outcome.status == 1
    assert outcome.attempts == 3
    assert len(outcome.reports) == 3
    assert [line for line in capfd.readouterr().out.splitlines() if line.startswith("attempt")] == [
        "attempt 1 exclude= from=",
        "attempt 2 exclude=node7.cluster from=",
        "attempt 3 exclude=node7.cluster from=",
    ]
    assert "no restart is left" in said[-1]


def test_log_holds_all_attempts_and_lines_are_counted_through(tmp_path: Path) -> None:
    log = tmp_path / "all.log"
    outcome, _ = run(failing(NCCL_REMOTE, 99, tmp_path), retry=1, backoff=0.01, log=log)
    lines = log.read_text(encoding="utf-8").splitlines()
    assert outcome.report is not None
    for evidence in outcome.report.diagnoses[0].evidence:
        assert evidence.text in lines[evidence.line - 1]
    assert outcome.report.diagnoses[0].evidence[0].line > len(lines) // 2
    assert outcome.lines == len(lines)


def test_hook_runs_before_each_restart_and_may_forbid_it(tmp_path: Path) -> None:
    note = tmp_path / "hook"
    outcome, _ = run(
        failing(NCCL_REMOTE, 3, tmp_path),
        retry=5,
        backoff=0.01,
        retry_hook=f'echo "$AIFIX_ATTEMPT $AIFIX_DIAGNOSIS $AIFIX_STATUS $AIFIX_EXCLUDE" >> {note}',
    )
    assert outcome.status == 0
    assert note.read_text(encoding="utf-8").splitlines() == ["2 dist.nccl-remote 1 node7.cluster", "3 dist.nccl-remote 1 node7.cluster"]
    outcome, said = run(failing(NCCL_REMOTE, 3, tmp_path), retry=5, backoff=0.01, retry_hook="exit 3")
    assert outcome.attempts == 1
    assert said[-1] == "the hook ended with 3; not started again"


def test_leftovers_of_the_failed_attempt_are_ended_first(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = f"setsid sleep 60 >/dev/null 2>&1 & echo $! >> {pids}; "
    command = failing(NCCL_REMOTE, 2, tmp_path)
    command[-1] = f'[ "$AIFIX_ATTEMPT" = 1 ] && {{ {code} }}; ' + command[-1]
    outcome, said = run(command, retry=1, backoff=0.01)
    assert outcome.status == 0
    assert not any(alive(int(pid)) for pid in pids.read_text(encoding="utf-8").split())
    assert any("left behind" in line for line in said)


def test_asked_to_end_while_waiting(tmp_path: Path) -> None:
    process = start(["--retry", "9", *failing(NCCL_REMOTE, 99, tmp_path)])
    assert process.stderr is not None
    line = process.stderr.readline()
    while b"starting again" not in line:
        line = process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    started = time.monotonic()
    _, err = process.communicate(timeout=30)
    assert time.monotonic() - started < 15
    assert process.returncode == 1
    assert b"not started again" in err


def test_waits_double_with_jitter_that_a_seed_fixes() -> None:
    waits = [retry.wait_before(n, 2.0, random.Random("3")) for n in range(1, 12)]  # noqa: S311
    for n, wait in enumerate(waits):
        assert min(2.0 * 2**n, 300) <= wait <= 1.25 * min(2.0 * 2**n, 300)
    assert retry.wait_before(1, 2.0, retry.randomness({"AIFIX_SEED": "3"})) == waits[0]
    assert retry.wait_before(1, 2.0, retry.randomness({})) != retry.wait_before(1, 2.0, retry.randomness({}))


def test_interrupted_runs_are_not_transient() -> None:
    report = api.diagnose_text(NCCL_REMOTE + "\n", genre="log")
    assert report.diagnoses[0].transient
    assert retry.verdict(Outcome(1), report)[0] is not None
    assert retry.verdict(Outcome(1, interrupted=True), report)[0] is None
    assert retry.verdict(Outcome(130, signal=2), report)[0] is None


TRANSIENT = {
    "dist.nccl-timeout", "dist.nccl-remote", "dist.rendezvous", "dist.gloo", "dist.nccl-ib", "dist.stale-store", "dist.worker-died", "hf.rate-limit", "hf.offline",
    "host.interrupted", "host.time-limit", "data.worker-timeout", "cuda.busy", "xpu.collective",
}  # fmt: skip


def test_which_rules_are_transient() -> None:
    """A new name here has to be one that starting again unchanged may end: no bug, no lack of memory."""
    base = api.rule_base()
    assert {rule for rule in base if base[rule].transient} == TRANSIENT


def torch_file(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"x" * 1000)


def tensors_file(path: Path) -> None:
    header = json.dumps({"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * 16)


def age(path: Path, seconds: float) -> None:
    moment = time.time() - seconds
    for one in [*path.rglob("*"), path] if path.is_dir() else [path]:
        os.utime(one, (moment, moment))


def test_newest_whole_checkpoint(tmp_path: Path) -> None:
    assert newest(str(tmp_path)).path == ""
    assert newest(str(tmp_path / "nowhere")).path == ""
    for step in (500, 1000, 1500):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        tensors_file(folder / "model.safetensors")
        torch_file(folder / "optimizer.pt")
        age(folder, 5000 - step)
    (tmp_path / "training_args.bin").write_bytes(b"x" * 100)
    assert newest(str(tmp_path)).path == str(tmp_path / "checkpoint-1500")
    cut = tmp_path / "checkpoint-1500" / "model.safetensors"
    cut.write_bytes(cut.read_bytes()[:-8])
    found = newest(str(tmp_path))
    assert found.path == str(tmp_path / "checkpoint-1000")
    assert found.cut == (str(tmp_path / "checkpoint-1500"),)


def test_checkpoint_files(tmp_path: Path) -> None:
    torch_file(tmp_path / "epoch=3.ckpt")
    age(tmp_path / "epoch=3.ckpt", 100)
    torch_file(tmp_path / "epoch=4.ckpt")
    whole = (tmp_path / "epoch=4.ckpt").read_bytes()
    (tmp_path / "epoch=4.ckpt").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "epoch=5.ckpt.tmp").write_bytes(b"x")
    (tmp_path / "empty.pt").write_bytes(b"")
    assert newest(str(tmp_path)).path == str(tmp_path / "epoch=3.ckpt")


def test_checkpoint_reaches_the_run(tmp_path: Path) -> None:
    torch_file(tmp_path / "last.pt")
    done = supervise("-q", "--checkpoint-dir", str(tmp_path), "--", "sh", "-c", "echo $AIFIX_CHECKPOINT $AIFIX_ATTEMPT")
    assert done.out == f"{tmp_path}/last.pt 1\n".encode()


@pytest.mark.parametrize(
    ("facts", "places"),
    [
        ({"peer": "node7.cluster<43210>"}, ["node7.cluster"]),
        ({"peer": "10.0.0.3<43210>", "gpu": "2"}, ["10.0.0.3", "gpu:2"]),
        ({"peer": "127.0.0.1<1>"}, []),
        ({"host": "ip-10-1-2-3:29500"}, ["ip-10-1-2-3"]),
        ({"device": "cuda:5"}, ["gpu:5"]),
        ({"device": "cpu"}, []),
        ({}, []),
    ],
)
def test_named_places(facts: dict[str, str], places: list[str]) -> None:
    from dataclasses import dataclass
    from typing import Any

    from aifix.model import Fact

    @dataclass
    class Case:
        id: str
        facts: Any

    assert retry.named_places(Case("dist.nccl-remote", {name: Fact(text) for name, text in facts.items()})) == places  # type: ignore[arg-type]
