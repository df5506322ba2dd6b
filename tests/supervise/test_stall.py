"""Silence: what the run does is said, once, and nothing is killed unless asked for."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.supervise.parts import python, start, supervise

from aifix.supervise import processes, stall
from aifix.supervise.words import duration, seconds

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")


def test_waiting_for_a_socket_is_described_and_the_run_goes_on() -> None:
    code = """
import socket, threading, time
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
peer, _ = server.accept()
threading.Timer(4.5, lambda: peer.sendall(b"x")).start()
print("begin", flush=True)
client.recv(1)
print("end", flush=True)
"""
    done = supervise("--stall", "1", *python(code))
    assert done.status == 0
    assert done.out == b"begin\nend\n"
    assert done.err.count("nothing was printed for") == 1  # once a stall
    assert "(it goes on)" in done.err
    assert "in recv on descriptor" in done.err
    assert "connected" in done.err
    assert "listening" in done.err


def test_each_stall_is_reported() -> None:
    done = supervise("--stall", "0.7", *python("import time\nfor n in range(2): print(n, flush=True); time.sleep(3)"))
    assert done.err.count("nothing was printed for") == 2


def test_a_run_that_prints_is_left_alone() -> None:
    done = supervise("--stall", "1", "--", "sh", "-c", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.4; done")
    assert "nothing was printed" not in done.err


def test_computing_is_told_from_waiting() -> None:
    done = supervise("--stall", "0.5", *python("import time\nend = time.monotonic() + 3\nwhile time.monotonic() < end: pass"))
    assert "it computes (" in done.err


def test_children_and_a_stopped_process_are_seen() -> None:
    done = supervise("--stall", "0.5", "--", "sh", "-c", "sleep 3 & kill -STOP $!; (sleep 2.5; kill -CONT $!; kill $!) & sleep 3.2; wait")
    assert "sleep 3" in done.err
    assert "state T (stopped)" in done.err


def test_waiting_for_input_is_recognised() -> None:
    import subprocess

    from tests.supervise.parts import AIFIX, environ

    process = subprocess.Popen(
        [*AIFIX, "run", "--stall", "0.5", *python("input()")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ()
    )
    time.sleep(4)
    _, err = process.communicate(b"x\n", timeout=30)
    assert b"it waits for input" in err
    assert process.returncode == 0


@pytest.mark.skipif(shutil.which("py-spy", path=f"{sys.prefix}/bin") is None, reason="py-spy is not installed")
def test_python_stacks() -> None:
    import os

    code = "import time\ndef train_one_epoch():\n    time.sleep(6)\nprint('go', flush=True)\ntrain_one_epoch()"
    done = supervise("--stall", "1", *python(code), PATH=f"{sys.prefix}/bin:{os.environ['PATH']}")
    assert "(py-spy)" in done.err
    if "may not look" not in done.err:
        assert "train_one_epoch" in done.err


def test_kill_stalled_ends_the_whole_tree() -> None:
    started = time.monotonic()
    done = supervise("--stall", "1", "--kill-stalled", "--retry", "2", "--", "sh", "-c", "echo step 7; setsid sleep 60 & sleep 60")
    assert done.status == 143
    assert time.monotonic() - started < 30
    text = " ".join(done.err.split())
    assert "no output: nothing was printed for" in text
    assert "not started again: it hung" in text
    assert "1 │ step 7" in text


def test_kill_stalled_is_not_deterred_by_a_handler() -> None:
    code = "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nprint('go', flush=True)\ntime.sleep(60)"
    started = time.monotonic()
    done = supervise("--stall", "1", "--kill-stalled", *python(code))
    assert done.status == 137
    assert time.monotonic() - started < 40


def test_what_a_program_says_of_the_signal_that_ends_a_stall_is_no_cause() -> None:
    code = (
        "import signal, sys, time\n"
        "def end(number, frame):\n    print('Received SIGTERM death signal, shutting down workers', flush=True)\n    sys.exit(1)\n"
        "signal.signal(signal.SIGTERM, end)\nprint('step 1', flush=True)\ntime.sleep(60)"
    )
    done = supervise("--stall", "1", "--kill-stalled", *python(code))
    assert "no output: nothing was printed for" in " ".join(done.err.split())
    assert "host.interrupted" not in done.err


def test_the_rank_that_waits_otherwise_than_the_others_is_named() -> None:
    lock, sleep = ((next(number for number, name in stall._X86.items() if name == what), 0, 0) for what in ("lock", "sleep"))

    def process(pid: int, syscall: tuple[int, ...]) -> processes.Process:
        return processes.Process(pid, 1, "python", "S", 0, 4, 1, "python train.py", syscall=syscall)

    listed = [process(2**22 + 10, lock), process(2**22 + 11, lock), process(2**22 + 12, sleep), process(2**22 + 13, sleep)]
    ranks = {one.pid: rank for one, rank in zip(listed, (0, 1, 2, 2), strict=True)}  # the last is a worker of rank 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stall, "_CALLS", stall._X86)
        said = stall._apart(listed, ranks)
        assert said == [f"rank 2 (process {2**22 + 12}) waits in sleep, where ranks 0, 1 wait in lock: look there first"]
        assert stall._apart(listed[:2], ranks) == []


def test_signals_are_forwarded_while_a_stall_is_described() -> None:
    process = start(["--stall", "0.5", "--", "sh", "-c", "echo go; exec sleep 60"])
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.9)  # within the second that the description takes
    process.send_signal(signal.SIGTERM)
    started = time.monotonic()
    process.communicate(timeout=30)
    assert process.returncode == 143
    assert time.monotonic() - started < 15


def test_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    from aifix.probes import nvml

    gib = 1 << 30
    mine = nvml.Gpu(0, total=80 * gib, used=30 * gib, busy=100, holders=(nvml.Holder(11, 30 * gib, "compute"),))
    other = nvml.Gpu(1, total=80 * gib, used=gib, busy=3, holders=(nvml.Holder(99, gib, "compute"),))
    monkeypatch.setattr(nvml, "read", lambda: nvml.Reading(gpus=(mine, other, nvml.Gpu(2, lost="GPU is lost"))))
    assert stall._gpus({11, 12}) == ["GPU 0: 100 % busy, 30.0 of 80.0 GiB used, held by 11", "GPU 2: lost (GPU is lost)"]
    hidden = nvml.Gpu(0, total=80 * gib, used=30 * gib, busy=0)
    monkeypatch.setattr(nvml, "read", lambda: nvml.Reading(gpus=(hidden,)))
    assert stall._gpus({11}) == ["GPU 0: 0 % busy, 30.0 of 80.0 GiB used"]


def test_processes_that_are_gone() -> None:
    assert "cannot be looked at" in stall.describe(2**22 + 1, 60)[1]


@pytest.mark.parametrize(
    ("text", "length"), [("90", 90), ("90s", 90), ("10m", 600), ("1h30m", 5400), ("0.5", 0.5), ("500ms", 0.5), ("2 min", 120), ("1d", 86400)]
)
def test_lengths(text: str, length: float) -> None:
    assert seconds(text) == length


@pytest.mark.parametrize("text", ["", "soon", "10x", "m", "-3", "1h-2"])
def test_no_lengths(text: str) -> None:
    with pytest.raises(ValueError, match="no length of time"):
        seconds(text)


def test_durations() -> None:
    assert [duration(x) for x in (0.04, 9.94, 59, 61, 600, 3600, 5461)] == ["0.0 s", "9.9 s", "59 s", "1 min 1 s", "10 min", "1 h", "1 h 31 min"]


# ---------------------------------------------------------------- ranks

RANKS = """
import os
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, part = dist.get_rank(), os.environ["PART"]
values = torch.ones(4)
dist.all_reduce(values)


def share_metrics():
    dist.all_reduce(values)


def load_checkpoint():
    time.sleep(30)


print("up", flush=True)
if part == "late" and rank == 1:
    load_checkpoint()
if part == "apart" and rank == 1:
    dist.broadcast(values, 0)
share_metrics()
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("py-spy", path=f"{sys.prefix}/bin") is None, reason="py-spy is not installed")
@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("late", "so rank 0 waits for rank 1, which has not come to the collective"),
        ("apart", "so the ranks have parted: rank 0 in all_reduce (share_metrics, train.py:"),
    ],
)
def test_the_collective_of_each_rank_is_named(part: str, said: str, tmp_path: Path) -> None:
    import os
    import threading

    from tests.torches import torch_python

    (tmp_path / "train.py").write_text(RANKS, encoding="utf-8")
    command = [torch_python(), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(tmp_path / "train.py")]
    path = f"{sys.prefix}/bin:{os.environ['PATH']}"
    process = start(["--stall", "4", "--", *command], PATH=path, PART=part, OMP_NUM_THREADS="1")
    assert process.stderr is not None
    lines: list[str] = []
    watchdog = threading.Timer(150, process.kill)
    watchdog.start()
    try:  # torch's import alone may be silent for so long: each silence is described, until the ranks have met
        for line in process.stderr:
            lines.append(line.decode("utf-8", "replace"))
            if "so rank" in lines[-1] or "so the ranks" in lines[-1] or "may not look" in lines[-1]:
                break
    finally:
        watchdog.cancel()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    text = "".join(lines)
    if "may not look" in text:
        pytest.skip("ptrace is not allowed here")
    assert "rank 0 is in all_reduce (share_metrics, train.py:15)" in text
    assert said in text
    if part == "late":
        assert "rank 1 is in its own code (load_checkpoint, train.py:19)" in text


def test_stacks_are_read_and_compared() -> None:
    from aifix.supervise.collectives import Frame, Standing, describe, frames, standing

    dump = [
        "Process 11: python train.py",
        "Python v3.11.7 (/usr/bin/python3.11)",
        "",
        'Thread 11 (idle): "MainThread"',
        "    all_gather (torch/distributed/distributed_c10d.py:3900)",
        "    all_gather_object (torch/distributed/distributed_c10d.py:2800)",
        "    wrapper (torch/distributed/c10d_logger.py:83)",
        "    collect (train.py:42)",
        'Thread 12 (idle): "pin"',
        "    wait (threading.py:320)",
    ]
    stack = frames(dump)
    assert stack[0] == Frame("all_gather", "torch/distributed/distributed_c10d.py", 3900)
    assert len(stack) == 4
    assert standing(11, stack, {"RANK": "3", "WORLD_SIZE": "8"}) == Standing(11, 3, 8, "all_gather_object", True, "collect, train.py:42")
    backward = [Frame("_engine_run_backward", "torch/autograd/graph.py", 1), Frame("step", "train.py", 9)]
    late = standing(12, backward, {"RANK": "4", "WORLD_SIZE": "8"})
    assert late is not None
    assert not late.collective
    assert standing(13, [Frame("poll", "selectors.py", 1)], {}) is None
    same = [Standing(pid, pid, 3, "barrier", True, "main, a.py:1") for pid in (0, 1)]
    assert describe(same)[-2:] == [
        "             so all of them are in the same one: a rank that is not seen here is missing, or the network does not answer",
        "             3 ranks belong to the job, 2 of them were seen here: the missing ones may be on other nodes, or gone",
    ]
    assert describe([Standing(1, 0, 1, "", False, "main, a.py:1")]) == []


def test_the_flight_recorder_s_files_and_pipes_are_named(tmp_path: Path) -> None:
    import os
    import subprocess

    from aifix.supervise import collectives

    prefix = str(tmp_path / "dump" / "rank_")
    environ = {"RANK": "2", "TORCH_FR_DUMP_TEMP_FILE": prefix, "TORCH_FR_BUFFER_SIZE": "2000", "TORCH_NCCL_DEBUG_INFO_PIPE_FILE": str(tmp_path / "p")}
    rank = subprocess.Popen(["sleep", "30"], env=os.environ | environ)
    try:
        while b"RANK=2" not in collectives.read_file(f"/proc/{rank.pid}/environ"):
            time.sleep(0.01)
        assert collectives.recorders([rank.pid]) == []
        os.mkfifo(tmp_path / "p2.pipe")
        assert f"echo 1 > {tmp_path}/p2.pipe" in collectives.recorders([rank.pid])[0]
        (tmp_path / "dump").mkdir()
        (tmp_path / "dump" / "rank_2").write_bytes(b"x")
        assert collectives.recorders([rank.pid]) == [
            f"flight recorder: 1 rank has written to {tmp_path}/dump; read it with: aifix flight {tmp_path}/dump"
        ]
        assert "written" not in str(collectives.recorders([rank.pid], time.time() + 60))  # of a run before
    finally:
        rank.kill()
        rank.wait()
