"""A command under `aifix run`: started, watched through its log file, stopped, and its report. No widgets.

`aifix.supervise.run` passes the three standard descriptors of its own process on, which here are the interface's: so the supervisor runs in a
process of its own, as `aifix run --format json --log FILE`, on a pseudo-terminal that nobody reads but to empty it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import msgspec

from aifix.model import Report

if TYPE_CHECKING:
    from pathlib import Path

SHELL = re.compile(r"[|&;<>$`*?(){}~\n]|^\w+=")
"""What only a shell understands."""
KEPT = 4096
"""Bytes that are kept of what the supervisor says."""
GRACE = 3.0
"""Seconds that a run gets to end when the interface closes."""
_SAID = re.compile(r"^aifix: (.*?)\r?$", re.MULTILINE)


def words_of(command: str) -> list[str]:
    """Give a command line's words; one that needs a shell goes to one.

    Raises:
        ValueError: a quotation is not closed, or there is no command.

    """
    if not command.strip():
        raise ValueError("no command was given")
    if os.name == "nt":
        return ["cmd", "/c", command]
    if SHELL.search(command):
        return ["/bin/sh", "-c", command]
    return shlex.split(command)


class Live:
    """One run."""

    def __init__(self, command: str, log: Path, report: Path, *, columns: int = 80, rows: int = 24) -> None:
        """Start a command under the supervisor.

        Args:
            command: as it would be typed.
            log: takes the whole output.
            report: takes the report.
            columns: width of the terminal that the command sees.
            rows: its height.

        Raises:
            ValueError: the command cannot be read.
            OSError: it cannot be started.

        """
        self.command = command
        self.words = words_of(command)
        self.log = log
        self.since = time.time()
        self._started = time.monotonic()
        self._took = 0.0
        self._report = report
        self._said = b""
        self._stops = 0
        arguments = [sys.executable, "-m", "aifix", "run", "--format", "json", "--quiet", "--log", str(log), "--", *self.words]
        environ = {name: value for name, value in os.environ.items() if not name.startswith("TEXTUAL") and name not in {"COLUMNS", "LINES"}}
        ours, theirs = _terminal(columns, rows)
        try:
            with report.open("wb") as answer:
                self._process = subprocess.Popen(
                    arguments, stdin=subprocess.DEVNULL, stdout=answer, stderr=theirs, env=environ, start_new_session=os.name != "nt"
                )
        except OSError:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        self._drain = threading.Thread(target=self._empty, args=(ours,), daemon=True, name="aifix run")
        self._drain.start()

    def _empty(self, ours: int) -> None:
        """Empty the terminal, or the command would wait; what stands in it last is kept for the supervisor's words."""
        with contextlib.suppress(OSError):  # Linux: the other end was closed
            while data := os.read(ours, 1 << 16):
                self._said = (self._said + data)[-KEPT:]
        os.close(ours)

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return self._took or time.monotonic() - self._started

    @property
    def stopping(self) -> bool:
        """Whether it was asked to end."""
        return self._stops > 0

    def wait(self, seconds: float) -> int | None:
        """Wait for the end; None while it runs, else its status as a shell gives it."""
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._took = self._took or time.monotonic() - self._started
        self._drain.join(GRACE)
        return status

    def stop(self) -> str:
        """Ask it to end, more firmly each time; gives what was done."""
        self._stops += 1
        number = {1: signal.SIGINT, 2: signal.SIGTERM}.get(self._stops)
        with contextlib.suppress(OSError):
            if os.name == "nt" or number is None:
                self._process.kill()
            else:
                self._process.send_signal(number)
        return {1: "interrupted, as Ctrl-C does", 2: "asked to end (SIGTERM)"}.get(self._stops, "killed")

    def close(self) -> None:
        """End it when the interface ends."""
        if self.wait(0) is None:
            self._process.terminate()
            if self.wait(GRACE) is None:
                self._process.kill()
                self.wait(GRACE)

    def report(self) -> Report | None:
        """Give the report; None where none was made: the command did not start."""
        try:
            return msgspec.json.decode(self._report.read_bytes(), type=Report)
        except (OSError, msgspec.MsgspecError):
            return None

    def said(self) -> list[str]:
        """Give the supervisor's own words, such as that there is no such command."""
        return _SAID.findall(self._said.decode("utf-8", "replace"))


def _terminal(columns: int, rows: int) -> tuple[int, int]:
    """Open a pseudo-terminal; a pipe where the system has none."""
    try:
        import fcntl
        import struct
        import termios
    except ImportError:
        return os.pipe()
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return ours, theirs
