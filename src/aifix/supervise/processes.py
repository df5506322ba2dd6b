"""Processes as /proc shows them. Where there is no /proc every answer is empty."""

from __future__ import annotations

import os
from dataclasses import dataclass

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Process:
    """One process at one moment."""

    pid: int
    parent: int
    name: str
    state: str
    ticks: int
    threads: int
    group: int
    command: str
    wchan: str = ""
    syscall: tuple[int, ...] = ()


def read_file(path: str, limit: int = 1 << 18) -> bytes:
    """Read a small file of /proc; empty where it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return stream.read(limit)
    except OSError:
        return b""


def link(pid: int, descriptor: int) -> str:
    """Say what a descriptor of a process is open on."""
    try:
        return os.readlink(f"/proc/{pid}/fd/{descriptor}")
    except OSError:
        return ""


def look(pid: int) -> Process | None:
    """Look at one process."""
    head, _, rest = read_file(f"/proc/{pid}/stat").rpartition(b")")
    fields = rest.split()
    if len(fields) < 20:
        return None
    name = head.partition(b"(")[2].decode("utf-8", "replace")
    command = read_file(f"/proc/{pid}/cmdline", 4096).replace(b"\0", b" ").strip().decode("utf-8", "replace")
    wchan = read_file(f"/proc/{pid}/wchan").decode("ascii", "replace").strip()
    return Process(
        pid,
        int(fields[1]),
        name,
        fields[0].decode(),
        int(fields[11]) + int(fields[12]),
        int(fields[17]),
        int(fields[2]),
        command or f"[{name}]",
        "" if wchan == "0" else wchan,
        _syscall(pid),
    )


def _syscall(pid: int) -> tuple[int, ...]:
    """Give the number of the system call in which the main thread waits, and its first argument."""
    words = read_file(f"/proc/{pid}/syscall").split()
    try:
        return (int(words[0]), int(words[1], 16)) if len(words) > 1 else ()
    except ValueError:
        return ()  # "running"


def started(pid: int) -> float:
    """Give the moment at which a process was started, in seconds since 1970; 0 where nobody tells."""
    fields = read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    boot = next((int(line.split()[1]) for line in read_file("/proc/stat").splitlines() if line.startswith(b"btime ")), 0)
    return boot + int(fields[19]) / TICKS if boot and len(fields) > 19 else 0.0


def everyone() -> list[int]:
    """Name all processes."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def tree(root: int) -> list[tuple[int, Process]]:
    """Give a process and its descendants, each with its depth, parents first."""
    children: dict[int, list[Process]] = {}
    first = look(root)
    for process in map(look, everyone()):
        if process is not None:
            children.setdefault(process.parent, []).append(process)
    found: list[tuple[int, Process]] = []
    waiting = [(0, first)] if first is not None else []
    while waiting:
        depth, process = waiting.pop()
        found.append((depth, process))
        waiting += [(depth + 1, child) for child in sorted(children.get(process.pid, []), key=lambda one: -one.pid)]
    return found


def marked(token: str, *, without: int = 0) -> list[int]:
    """Name the processes that carry our mark in their environment: whatever the run has started, wherever it has gone."""
    mark = f"AIFIX_RUN={token}".encode()
    own = os.getpid()
    return [pid for pid in everyone() if pid not in {own, without} and mark in read_file(f"/proc/{pid}/environ").split(b"\0") and not _is_zombie(pid)]


def _is_zombie(pid: int) -> bool:
    return read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()[:1] in ([b"Z"], [b"X"], [])


def holders(sources: list[int]) -> list[Process]:
    """Name the processes that hold the other end of our pipes and pseudo-terminals."""
    wanted = set()
    for source in sources:
        try:
            name = os.readlink(f"/proc/self/fd/{source}")
            wanted.add(_slave(source) if name.startswith("/dev/") else name)
        except OSError:
            continue
    own = os.getpid()
    found = []
    for pid in everyone():
        if pid == own or _is_zombie(pid):
            continue
        try:
            if any(link(pid, int(name)) in wanted for name in os.listdir(f"/proc/{pid}/fd")):
                process = look(pid)
                found += [process] if process is not None else []
        except OSError:
            continue
    return found


def _slave(master: int) -> str:
    """Name a pseudo-terminal by our end of it; `os.ptsname` came with Python 3.13."""
    import fcntl
    import struct

    return f"/dev/pts/{struct.unpack('I', fcntl.ioctl(master, 0x80045430, b'0000'))[0]}"  # TIOCGPTN


def ignores(pid: int, number: int) -> bool:
    """Tell whether a process ignores a signal."""
    for line in read_file(f"/proc/{pid}/status").splitlines():
        if line.startswith(b"SigIgn:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def out_of_memory_kills() -> int:
    """Count the kills by the kernel's out-of-memory killer in our control group, or on the machine; -1 where nobody tells."""
    path = next((line[3:] for line in read_file("/proc/self/cgroup").decode().splitlines() if line.startswith("0::")), "")
    files = [f"/sys/fs/cgroup{path.rstrip('/')}/memory.events", "/sys/fs/cgroup/memory.events", "/proc/vmstat"]
    for file in files:
        for line in read_file(file).splitlines():
            if line.startswith(b"oom_kill "):
                return int(line.split()[1])
    return -1
