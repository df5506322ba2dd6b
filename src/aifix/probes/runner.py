"""Run a script of ours in the target interpreter: a time limit, a process group of its own that is killed as one, an answer in JSON."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aifix.probes.machine import Machine

SCRIPTS = Path(__file__).parent / "scripts"
TAIL = 4000
"""Characters of a script's standard error that are kept."""
MOST = 1000
"""Processes below a script that are looked for."""
GRACE = 2.0
"""Seconds for a killed group to go."""


class Answer(msgspec.Struct, frozen=True):
    """How a script ended, and what it had said until then."""

    how: Literal["answered", "timeout", "crashed", "not-started"]
    said: dict[str, Any] = {}
    stage: str = ""
    """What it was doing last."""
    error: str = ""
    stderr: str = ""
    seconds: float = 0.0


def ask(machine: Machine, script: str, request: Mapping[str, Any], *, limit: float, launcher: Sequence[str] = ()) -> Answer:
    """Run `scripts/<script>.py` in the target interpreter.

    Args:
        machine: knows the target.
        script: the name of the script.
        request: what it is asked, as JSON data.
        limit: seconds after which its whole process group is killed.
        launcher: arguments between the interpreter and the script (`-m torch.distributed.run ...`).

    """
    if not machine.target.known:
        return Answer("not-started", error=machine.target.how)
    with tempfile.TemporaryDirectory(prefix="aifix-probe-", ignore_cleanup_errors=True) as folder:
        answers = Path(folder, "answers.jsonl")
        answers.touch()
        environ = {**machine.environ, "AIFIX_REQUEST": json.dumps(dict(request)), "AIFIX_ANSWERS": str(answers), "PYTHONUNBUFFERED": "1"}
        environ.pop("PYTHONSTARTUP", None)
        command = [machine.target.python, *launcher, str(SCRIPTS / f"{script}.py")]
        started = time.monotonic()
        code, stderr = run(command, environ, str(machine.cwd), limit)
        seconds = time.monotonic() - started
        said, stage = _read(answers)
    if isinstance(code, str):
        return Answer("not-started", error=code, seconds=seconds)
    error = str(said.pop("error", ""))
    if code is None:
        return Answer("timeout", said, stage, error, stderr, seconds)
    if code != 0 and not error:
        return Answer("crashed", said, stage, _ended(code), stderr, seconds)
    return Answer("answered", said, stage, error, stderr, seconds)


def run(
    command: list[str], environ: Mapping[str, str], cwd: str, limit: float, *, tail: int = TAIL, apart: bool = False
) -> tuple[int | str | None, str]:
    """Run a command in a process group of its own.

    Args:
        command: the program and its arguments.
        environ: its environment.
        cwd: its working folder.
        limit: seconds after which the whole group is killed.
        tail: characters of its output that are kept, from the end.
        apart: leave standard error out.

    Returns:
        Its exit code (None: it was killed at the limit; a text: it did not start), and the end of what it wrote.

    """
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL if apart else output,
                env=dict(environ),
                cwd=cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return f"{command[0]} does not start: {getattr(error, 'strerror', None) or error}", ""
        code: int | None
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            kill(process)  # children that a script left behind go too
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - tail))
        return code, output.read().decode("utf-8", "replace")


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, all of its group, and what it has started in groups of their own, as torchrun starts its ranks."""
    below = _descendants(process.pid)
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for pid in below:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)  # in the driver's uninterruptible sleep nothing can be killed; then we go on without it


def _descendants(pid: int) -> list[int]:
    """Name the processes below one, where /proc tells; those whose parent is gone are not to be found, but are in its group then."""
    found: list[int] = []
    waiting = [pid]
    while waiting and len(found) < MOST:
        at = waiting.pop()
        try:
            tasks = os.listdir(f"/proc/{at}/task")
        except OSError:
            continue
        for task in tasks:
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{at}/task/{task}/children", encoding="ascii") as stream:
                children = [int(word) for word in stream.read().split()]
                found += children
                waiting += children
    return found


def _read(path: Path) -> tuple[dict[str, Any], str]:
    """Join the JSON lines that a script wrote; the last stage is where it stood."""
    said: dict[str, Any] = {}
    stage = ""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}, ""
    for line in lines:
        try:
            item = json.loads(line)
        except ValueError:
            continue  # the line that it was writing when it was killed
        if isinstance(item, dict):
            stage = str(item.pop("stage", stage))
            said.update(item)
    return said, stage


def _ended(code: int) -> str:
    if code < 0:
        try:
            return f"killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"killed by signal {-code}"
    return f"exit status {code}"
