"""A command, run under `aifix run` from the interface: real processes, a real pseudo-terminal, a real history."""

from __future__ import annotations

import os
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.tui.pilot import diagnosed, drive, shown, until

from aifix import kb
from aifix_tui.app import AifixApp
from aifix_tui.live import Live, words_of
from aifix_tui.logview import LogView

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

PYTHON = shlex.quote(sys.executable)
FAILING = """\
import sys, time
print("a terminal" if sys.stdout.isatty() else "no terminal", flush=True)
for step in range(3):
    print("step", step)
    time.sleep(0.1)
raise RuntimeError("CUDA out of memory. Tried to allocate 1.50 GiB. GPU 1 has a total capacity of 23.64 GiB of which 311.12 MiB is free.")
"""


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def typed(pilot: Pilot[None], command: str) -> Any:
    await pilot.press("R")
    await until(pilot, lambda: pilot.app.current_mode == "run")
    screen: Any = pilot.app.screen
    screen.query_one("#command").value = command
    await pilot.press("enter")
    await until(pilot, lambda: screen.live is not None)
    return screen


def lines(screen: Any) -> str:
    log = screen.query_one(LogView).log_file
    return "\n".join(log.text(number) for number in range(1, log.lines + 1))


@pytest.mark.slow
def test_a_command_is_watched_and_its_diagnosis_opens_and_stands_in_the_history(small: Path) -> None:
    (small / "fail.py").write_text(FAILING)

    async def flow(pilot: Pilot[None]) -> None:
        screen = await typed(pilot, f"{PYTHON} fail.py")
        await until(pilot, lambda: "step 1" in lines(screen))
        if pilot.app.current_mode == "run":  # else it has ended already
            assert "a terminal" in lines(screen)
        await until(pilot, lambda: pilot.app.current_mode == "case")
        await diagnosed(pilot)
        assert "CUDA out of memory" in shown(pilot, "#tree")
        assert "fail.py" in shown(pilot, "#title")
        incident = pilot.app.case.past.incident  # type: ignore[attr-defined]
        assert incident is not None
        assert incident.diagnosis == "cuda.oom"

    drive(AifixApp(), flow)
    with kb.open_store() as store:
        assert [one.how for one in kb.recent(store)] == ["run"]


@pytest.mark.slow
def test_a_command_is_stopped(small: Path) -> None:
    (small / "long.py").write_text("import os, time\nprint('pid', os.getpid(), flush=True)\ntime.sleep(600)\n")

    async def flow(pilot: Pilot[None]) -> None:
        screen = await typed(pilot, f"{PYTHON} long.py")
        await until(pilot, lambda: "pid" in lines(screen))
        pid = int(lines(screen).split()[1])
        assert screen.running
        await until(pilot, lambda: "s stops it" in shown(pilot, "#doing"))
        await pilot.press("q")  # asks once more
        await pilot.pause()
        assert pilot.app.is_running
        await pilot.press("s")
        await until(pilot, lambda: not screen.running)
        await until(pilot, lambda: not alive(pid))

    drive(AifixApp(), flow)


@pytest.mark.slow
def test_a_good_end_and_a_command_that_is_not_there_are_said(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        screen = await typed(pilot, "echo all is well | cat")
        await until(pilot, lambda: "✓ ended well" in shown(pilot, "#doing"))
        assert lines(screen) == "all is well"
        assert pilot.app.current_mode == "run"
        first = screen.live
        await pilot.press("slash")
        screen.query_one("#command").value = "no-such-command-here"
        await pilot.press("enter")
        await until(pilot, lambda: screen.live is not first)
        await until(pilot, lambda: "ended with 127" in shown(pilot, "#doing"))
        assert any("no-such-command-here" in one.message for one in pilot.app._notifications)
        screen.query_one("#command").focus()
        screen.query_one("#command").value = "echo 'open"
        await pilot.press("enter")
        await until(pilot, lambda: any("Cannot be started" in one.title for one in pilot.app._notifications))

    drive(AifixApp(), flow)


@pytest.mark.slow
def test_closing_ends_the_command(small: Path) -> None:
    live = Live(f"{PYTHON} -c 'import os, time; print(os.getpid(), flush=True); time.sleep(600)'", small / "log", small / "report")
    deadline = time.monotonic() + 30
    while not (small / "log").exists() or not (small / "log").read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    pid = int((small / "log").read_text().split()[0])
    live.close()
    while alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("python train.py --lr 1e-4", ["python", "train.py", "--lr", "1e-4"]),
        ("python 'my train.py'", ["python", "my train.py"]),
        ("a | b", ["/bin/sh", "-c", "a | b"]),
        ("CUDA_VISIBLE_DEVICES=1 python x.py", ["/bin/sh", "-c", "CUDA_VISIBLE_DEVICES=1 python x.py"]),
        ("python ~/x.py", ["/bin/sh", "-c", "python ~/x.py"]),
    ],
)
def test_what_needs_a_shell_gets_one(command: str, words: list[str]) -> None:
    assert words_of(command) == words


@pytest.mark.parametrize("command", ["", "  ", "echo 'open"])
def test_what_is_no_command_is_refused(command: str) -> None:
    with pytest.raises(ValueError, match=r"no command|No closing"):
        words_of(command)
