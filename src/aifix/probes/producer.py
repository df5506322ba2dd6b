"""Who writes into our standard input: found early through /proc, while the process still lives. Imports `os` only.

The pipe calls `capture` after the first bytes have gone out. It looks at our siblings (the other members of the shell's
pipeline) and their children, and keeps raw bytes; what they mean is worked out only after a failure.
"""

from __future__ import annotations

import os

HOPS = 6
"""Members of a pipeline (`python | tee | grep | aifix`) that are followed to its head."""
ANCESTORS = 3
"""Generations above us whose children are looked at: we may have been started through a wrapper."""
FAMILY = 64
"""Processes looked at for one pipe end."""


class Producer:
    """A process at the other end of the pipe, as raw as /proc gave it; `apart`: a Python whose standard error goes elsewhere."""

    __slots__ = ("apart", "argv", "cwd", "environ", "exe", "pid")

    def __init__(self, pid: int, exe: str, argv: bytes, cwd: str, environ: bytes, *, apart: bool = False) -> None:
        self.pid = pid
        self.exe = exe
        self.argv = argv
        self.cwd = cwd
        self.environ = environ
        self.apart = apart


def capture() -> list[Producer]:
    """Give the pipeline's members that feed us, nearest first; empty where /proc does not tell. Never raises."""
    found: list[Producer] = []
    try:
        pipe = os.readlink("/proc/self/fd/0")
        seen = {os.getpid()}
        while pipe.startswith("pipe:") and len(found) < HOPS * 4:
            writers = _writers(pipe, seen)
            if not writers:
                break
            seen.update(writers)
            found += [item for item in map(_describe, writers) if item is not None]
            # the youngest writer's own input leads on to the head of the pipeline
            pipe = next((link for link in (_link(pid, 0) for pid in writers) if link.startswith("pipe:") and link != pipe), "")
    except OSError:
        pass
    return found


def _writers(pipe: str, seen: set[int]) -> list[int]:
    """Name the processes of our family that hold a pipe as output, descendants (the program in a shell script) first."""
    found: list[int] = []
    ancestor = os.getppid()
    for _ in range(ANCESTORS):
        found = _among(ancestor, pipe, seen)
        if found or ancestor <= 1:
            break
        ancestor = parent(ancestor)  # we were started through a wrapper (uv run, a shim)
    return found


def _among(ancestor: int, pipe: str, seen: set[int]) -> list[int]:
    family = [pid for pid in _children(ancestor) if pid not in seen]
    family.sort(key=lambda pid: abs(pid - os.getpid()))
    found: list[int] = []
    waiting = family[:FAMILY]
    budget = FAMILY
    while waiting and budget:
        pid = waiting.pop(0)
        budget -= 1
        if pid in seen or pid in found:
            continue
        if pipe in (_link(pid, 1), _link(pid, 2)):
            found.insert(0, pid)
            waiting[:0] = _children(pid)
    return found


def parent(pid: int) -> int:
    """Give the process that started one; that of all processes where it cannot be told."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            return int(stream.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 1


def _children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as stream:
            return [int(word) for word in stream.read().split()]
    except (OSError, ValueError):
        return []


def _link(pid: int, descriptor: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/fd/{descriptor}")
    except OSError:
        return ""


def _bytes(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as stream:
            return stream.read(1 << 18)
    except OSError:
        return b""


def _describe(pid: int) -> Producer | None:
    try:
        exe = os.readlink(f"/proc/{pid}/exe")
        cwd = os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None
    output, errors = _link(pid, 1), _link(pid, 2)
    apart = b"python" in os.path.basename(exe.encode()) and output.startswith("pipe:") and errors not in {output, ""}
    return Producer(pid, exe, _bytes(pid, "cmdline"), cwd, _bytes(pid, "environ"), apart=apart)
