"""`aifix.supervise.run` as a library."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

import pytest
from tests.supervise.parts import OOM

from aifix import supervise

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="/bin/sh")


def test_outcome(capfd: pytest.CaptureFixture[str]) -> None:
    outcome = supervise.run(["sh", "-c", f"echo hello; echo '{OOM}' >&2; exit 7"], probe=False)
    assert (outcome.status, outcome.signal, outcome.attempts, outcome.lines) == (7, 0, 1, 2)
    assert outcome.report is not None
    assert outcome.report.diagnoses[0].id.startswith("cuda.oom")
    said = capfd.readouterr()
    assert said.out == "hello\n"
    assert said.err == OOM + "\n"


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir())) if sys.platform.startswith("linux") else 0


def test_signal_handlers_and_descriptors_are_put_back() -> None:
    def nothing(_number: int, _frame: object) -> None:
        pass

    before = signal.signal(signal.SIGUSR1, nothing)
    try:
        supervise.run(["true"])
        opened = descriptors()
        for _ in range(3):
            assert supervise.run(["false"], probe=False).status == 1
        assert signal.getsignal(signal.SIGUSR1) is nothing
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if opened:
            assert descriptors() == opened
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_off_the_main_thread() -> None:
    outcomes: list[supervise.Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(supervise.run(["sh", "-c", "exit 4"], probe=False)))
    thread.start()
    thread.join(30)
    assert outcomes[0].status == 4


def test_environment_and_errors(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    supervise.run(["/bin/sh", "-c", 'echo "$X-$AIFIX_ATTEMPT-$HOME"'], environ={"X": "1"})
    assert capfd.readouterr().out == "1-1-\n"
    with pytest.raises(ValueError, match="no command"):
        supervise.run([])
    with pytest.raises(OSError, match="directory"):
        supervise.run(["true"], log=tmp_path)


def test_a_fault_of_the_diagnosis_does_not_change_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("aifix.supervise.ending.judge", broken)
    said: list[str] = []
    outcome = supervise.run(["sh", "-c", "exit 9"], say=said.append)
    assert outcome.status == 9
    assert said == ["the diagnosis failed: RuntimeError: boom (a fault of aifix; AIFIX_TRACEBACK=1 shows where)"]
