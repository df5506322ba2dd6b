"""Silence: what the run does is said, once, and nothing is killed unless asked for."""

from __future__ import annotations

import shutil
import signal
import sys
import time

import pytest
from tests.supervise.parts import python, start, supervise

from aifix.supervise import stall
from aifix.supervise.words import duration, seconds

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
