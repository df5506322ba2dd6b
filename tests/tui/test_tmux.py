"""Real keys on a real pseudo-terminal."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from typing import TYPE_CHECKING

import pytest
from tests.tui.conftest import RANKS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is missing")
PATIENCE = 60.0


class Terminal:
    """A tmux session of its own."""

    def __init__(self, folder: Path) -> None:
        self.socket = f"aifix-{uuid.uuid4().hex[:8]}"
        self.folder = folder

    def tmux(self, *words: str) -> str:
        return subprocess.run(["tmux", "-L", self.socket, "-f", "/dev/null", *words], capture_output=True, text=True, check=True).stdout

    def start(self, command: str) -> None:
        environ = {"XDG_STATE_HOME": str(self.folder / "state"), "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
        settings = [word for name, value in environ.items() for word in ("-e", f"{name}={value}")]
        self.tmux("new-session", "-d", "-x", "80", "-y", "24", "-c", str(self.folder), *settings, f"{command}; echo status $?; sleep 60")

    def see(self, text: str) -> str:
        deadline = time.monotonic() + PATIENCE
        while text not in (screen := self.tmux("capture-pane", "-p")):
            assert time.monotonic() < deadline, f"{text!r} never came:\n{screen}"
            time.sleep(0.1)
        return screen

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    session = Terminal(tmp_path)
    yield session
    session.tmux("kill-server")


AIFIX = f"{shlex.quote(sys.executable)} -m aifix"


def test_a_log_from_the_pipe_to_the_wizard(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "ranks.log").write_text(RANKS)
    terminal.start(f"cat ranks.log | {AIFIX} --tui")
    terminal.see("the pipe")
    terminal.see("▶ 6 │")
    terminal.press("f")
    terminal.see("1. Halve the batch")
    terminal.press("/")
    terminal.see("Search the log")
    terminal.press("-l", "step 2")
    terminal.press("Enter")
    terminal.see("line 7 of 12")
    terminal.press("b")
    terminal.see("diagnoses and")
    terminal.press("/")
    time.sleep(0.5)
    terminal.press("-l", "lodash")
    terminal.see("npm.version-conflict")
    terminal.press("Escape")
    terminal.see("diagnoses and")  # a key straight after Escape would read as Alt and that key
    terminal.press("w")
    terminal.see("diagnoses left")
    terminal.press("Enter")
    terminal.see("wizard ›")
    terminal.press("q")
    terminal.see("status 1")


def test_bare_aifix_opens_on_the_terminal(terminal: Terminal) -> None:
    terminal.start(AIFIX)
    terminal.see("What killed the run?")
    terminal.press("?")
    terminal.see("Keys")
    terminal.press("Escape")
    terminal.see("What killed the run?")
    terminal.press("q")
    terminal.see("status 0")
