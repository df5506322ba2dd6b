"""Signals in the midst of the pipe and of `aifix run`, with the history on: what was read is out, the status is the signal's, no file is left locked."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.kb.parts import AIFIX, CRASH, aifix, environ

from aifix import kb

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals, and /proc")
FAILING = (
    f"import sys, time\nprint('step 1', flush=True)\nsys.stderr.write({CRASH!r})\nsys.stderr.flush()\nprint('now', flush=True)\ntime.sleep(60)\n"
)


def start(home: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*AIFIX, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ(home), cwd=home.parent, start_new_session=True,
    )  # fmt: skip


def is_free(home: Path) -> None:
    """Check that the history is whole, and that the next failure is written to it at once."""
    with kb.open_store(str(home / "history.db"), patience=0.0) as store:
        assert store.rows("PRAGMA quick_check(1)")[0][0] == "ok"
        count = len(kb.recent(store))
    done = aifix(home, "--remember", data=CRASH)
    assert "not in the history" not in done.err
    with kb.open_store(str(home / "history.db")) as store:
        assert len(kb.recent(store)) == count + 1
    assert not list(home.glob("history.db.last.*"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_pipe_while_data_comes(home: Path, number: signal.Signals) -> None:
    process = start(home, "--remember")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(CRASH.encode())
    process.stdin.flush()
    assert process.stdout.read(len(CRASH)) == CRASH.encode()
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == -number  # a shell says 128 + n
    assert b"Traceback" not in err
    is_free(home)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_the_pipe_while_it_reports(home: Path, number: signal.Signals) -> None:
    aifix(home, "--remember", data=CRASH)
    process = start(home, "--remember")
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(CRASH.encode())
    process.stdin.close()
    begun = process.stderr.read(10)  # the report begins; the history is written after it
    process.send_signal(number)
    rest, out = process.stderr.read(), process.stdout.read()
    assert process.wait(30) in {-number, 1}  # it may have been through
    assert out == CRASH.encode()
    assert b"Traceback (most recent call last):\n  File" not in (begun + rest).partition(b"cuda.oom")[2]
    process.stderr.close()
    process.stdout.close()
    is_free(home)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", ["run", "watch"])
def test_a_supervised_run(home: Path, command: str, number: signal.Signals) -> None:
    process = start(home, command, "--", sys.executable, "-c", FAILING)
    assert process.stdout is not None
    assert process.stdout.read(len("step 1\nnow\n")) == b"step 1\nnow\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert CRASH.encode() in err  # what the child said before is out, whole
    is_free(home)


def test_a_reader_that_goes_away_from_a_run(home: Path) -> None:
    script = f"{' '.join(AIFIX)} run -- sh -c 'while echo step; do :; done' | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, env=environ(home), cwd=home.parent, timeout=60, check=False, stdin=subprocess.DEVNULL
    )
    assert done.stdout == b"step\n141\n"
    is_free(home)


def test_several_pipes_at_once_write_one_history_that_none_has_made_yet(home: Path) -> None:
    processes = [start(home, "--remember") for _ in range(4)]
    for process in processes:
        out, err = process.communicate(CRASH.encode(), timeout=120)
        assert out == CRASH.encode()
        assert process.returncode == 1
        assert b"not in the history" not in err
    with kb.open_store(str(home / "history.db")) as store:
        assert len(kb.recent(store)) == 4
