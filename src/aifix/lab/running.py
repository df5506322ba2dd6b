"""Running programs: anew, or in a fork of a warm process. Each in a session of its own, which is killed as one at its limit."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import IO, TYPE_CHECKING, Any

import msgspec

from aifix.lab.environment import SCRIPTS, variables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

MOST = 8 << 20
"""Bytes of a program's output that are read."""
START = 180.0
"""Seconds within which a warm process must have imported its modules."""
GRACE = 10.0
"""Seconds for the end of a killed program to be noticed."""


class Ran(msgspec.Struct, frozen=True):
    """How a program ended: exit status (128+n for signal n; None when it was killed at its limit), and what it wrote on both streams."""

    status: int | None
    output: bytes
    seconds: float
    memory: int = 0
    """Largest resident size, bytes; 0 where it is not known."""

    @property
    def ended(self) -> str:
        """Say how it ended."""
        return f"no end within {self.seconds:.0f} s" if self.status is None else f"exit status {self.status}"


class WarmError(RuntimeError):
    """A warm process did not start, or died."""


class Warm:
    """A process that has imported modules and forks a child for each program."""

    def __init__(self, python: str, preload: Sequence[str]) -> None:
        """Start it; it is ready when the first program has been asked for."""
        self._process = subprocess.Popen(
            [python, str(SCRIPTS / "warm.py"), ",".join(preload)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables(python),
            start_new_session=True,
        )
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._number = 0
        self._dead = False
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        stream = self._process.stdout
        for line in stream if stream is not None else ():
            answer = json.loads(line)
            if "ready" in answer:
                self._ready.set()
            else:
                self._answers[answer["id"]].put(answer)
        self._dead = True
        self._ready.set()
        for waiting in list(self._answers.values()):
            waiting.put({"dead": True})

    def run(self, folder: Path, program: str, env: Mapping[str, str], output: Path, limit: float) -> Ran:
        """Run a Python program in a fork.

        Raises:
            WarmError: the warm process is gone.

        """
        if not self._ready.wait(START) or self._dead:
            raise WarmError(self._last_words())
        mine: queue.Queue[dict[str, Any]] = queue.Queue()
        with self._lock:
            self._number += 1
            number = self._number
            self._answers[number] = mine
            request = {"id": number, "folder": str(folder), "program": program, "env": dict(env), "output": str(output)}
            self._write(request)
        started = time.monotonic()
        pid = self._answer(mine, GRACE)["pid"]
        killed = False
        try:
            answer = self._answer(mine, limit)
        except queue.Empty:
            killed = True
            _kill_group(pid)
            answer = self._answer(mine, GRACE)
        finally:
            self._answers.pop(number, None)
        _kill_group(pid)
        seconds = time.monotonic() - started
        return Ran(None if killed else answer["status"], _read(output), seconds, answer["memory"])

    def _write(self, request: dict[str, Any]) -> None:
        stream = self._process.stdin
        try:
            if stream is not None:
                stream.write(json.dumps(request).encode() + b"\n")
                stream.flush()
        except OSError as error:
            raise WarmError(self._last_words()) from error

    def _answer(self, mine: queue.Queue[dict[str, Any]], limit: float) -> dict[str, Any]:
        answer = mine.get(timeout=limit)
        if "dead" in answer:
            raise WarmError(self._last_words())
        return answer

    def _last_words(self) -> str:
        said = b""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
            said = self._process.stderr.read() if self._process.stderr is not None else b""
        return f"the warm process ended: {said.decode('utf-8', 'replace').strip().rpartition(chr(10))[2] or 'it says nothing'}"

    def close(self) -> None:
        """End it."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(GRACE)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


class Runner:
    """Runs programs with one target interpreter; keeps the warm processes until it is closed."""

    def __init__(self, python: str) -> None:
        """Start nothing yet."""
        self.python = python
        self._warm: dict[tuple[str, ...], Warm] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Runner:  # noqa: PYI034 - Self is in typing from Python 3.11 on
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the warm processes."""
        for one in self._warm.values():
            one.close()
        self._warm.clear()

    def warm(self, preload: tuple[str, ...], folder: Path, program: str, env: Mapping[str, str], limit: float) -> Ran:
        """Run a Python program in a fork of a process that has imported `preload`; anew where there is no fork."""
        if not hasattr(os, "fork"):
            return self.anew([self.python, program], folder, env, limit)
        with self._lock:
            if preload not in self._warm:
                self._warm[preload] = Warm(self.python, preload)
            process = self._warm[preload]
        output = folder.parent / f"{folder.name}.log"
        output.unlink(missing_ok=True)
        return process.run(folder, program, env, output, limit)

    def anew(self, command: Sequence[str], folder: Path, env: Mapping[str, str], limit: float) -> Ran:
        """Run a command, both streams into one file, as in `2>&1 |`."""
        output = folder.parent / f"{folder.name}.log"
        started = time.monotonic()
        with output.open("wb") as stream:
            process = _start(command, folder, variables(self.python, dict(env)), stream)
            try:
                code: int | None = process.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            _kill(process)
        seconds = time.monotonic() - started
        return Ran(code if code is None or code >= 0 else 128 - code, _read(output), seconds)


def _start(command: Sequence[str], folder: Path, env: dict[str, str], stream: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(command), cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and what it left behind."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
    else:
        _kill_group(process.pid)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)


def _kill_group(pid: int) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(MOST)
    except FileNotFoundError:
        return b""
