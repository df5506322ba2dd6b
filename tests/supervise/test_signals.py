"""Signals: forwarded once, to whom they are meant for."""

from __future__ import annotations

import signal
import sys
import time

import pytest
from tests.supervise.parts import alive, python, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

COUNTING = """
import signal, sys, time
seen = []
def note(number, frame):
    seen.append(number)
    print("got", number, flush=True)
for number in (1, 2, 3, 10, 12, 15):
    signal.signal(number, note)
print("ready", flush=True)
end = time.monotonic() + 2.5
while time.monotonic() < end:
    time.sleep(0.1)
sys.exit(40 + len(seen))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2])
def test_signal_reaches_the_child_once_and_the_child_decides(number: signal.Signals) -> None:
    process = start(python(COUNTING))
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    assert out == f"got {number.value}\n".encode()
    assert process.returncode == 41


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_child_that_dies_of_it(number: signal.Signals) -> None:
    process = start(["--retry", "3", "--", "sh", "-c", "echo ready; exec sleep 60"])
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert b"starting again" not in err


def test_what_the_child_leaves_behind_gets_it_too() -> None:
    process = start(["--", "sh", "-c", "sleep 60 & echo $!; wait"])
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 143
    until = time.monotonic() + 5
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(pid)


def test_ignored_signals_stay_ignored() -> None:
    code = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:], preexec_fn=lambda: __import__('signal').signal(1, __import__('signal').SIG_IGN)))"
    import subprocess

    from tests.supervise.parts import AIFIX, environ

    done = subprocess.run(
        [sys.executable, "-c", code, *AIFIX, "run", "-q", *python("import signal; print(signal.getsignal(1) == signal.SIG_IGN)")],
        capture_output=True,
        env=environ(),
        check=False,
        timeout=30,
    )
    assert done.stdout == b"True\n"


def test_children_get_default_signals() -> None:
    process = start(["-q", *python("import signal; print([signal.getsignal(n).name for n in (1, 3, 10, 15, 20, 28)])")])
    out, _ = process.communicate(timeout=30)
    assert set(out.decode().strip("[]\n").replace("'", "").split(", ")) == {"SIG_DFL"}


def test_stop_and_continue() -> None:
    process = start(["--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done"])
    assert process.stdout is not None
    assert process.stdout.readline() == b"1\n"
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.3)
    process.send_signal(signal.SIGCONT)
    out, _ = process.communicate(timeout=30)
    assert out.split() == [str(number).encode() for number in range(2, 11)]
    assert process.returncode == 0
