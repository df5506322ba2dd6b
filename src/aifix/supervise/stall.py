"""What a silent run does: its processes and where they wait, its sockets, its Python stacks, its GPUs. Nothing is changed or stopped."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from aifix.show.layout import name_ranks
from aifix.supervise import collectives, processes, sockets
from aifix.supervise.words import duration

if TYPE_CHECKING:
    from aifix.supervise.processes import Process

SAMPLE = 1.0
"""Seconds over which the CPU use is measured."""
SHOWN = 24
"""Processes shown."""
SOCKETS_SHOWN = 12
DUMPS, PRINTED = 16, 4
"""Python processes whose stacks are dumped, and those whose stacks are printed."""
DUMP_LIMIT = 15
STACK_LINES = 60
BUSY = 0.2
"""Cores from which on a process computes rather than waits; little, since the machine may be loaded."""

_X86 = {
    0: "read", 1: "write", 7: "poll", 19: "readv", 23: "select", 35: "sleep", 44: "send", 45: "recv", 46: "send", 47: "recv", 42: "connect",
    43: "accept", 61: "wait for a child", 73: "file lock", 74: "fsync", 75: "fsync", 72: "fcntl", 34: "pause", 202: "lock", 230: "sleep",
    232: "poll", 247: "wait for a child", 270: "select", 271: "poll", 281: "poll", 288: "accept", 441: "poll",
}  # fmt: skip
_ARM = {
    63: "read", 64: "write", 65: "readv", 72: "select", 73: "poll", 101: "sleep", 115: "sleep", 206: "send", 207: "recv", 211: "send", 212: "recv",
    203: "connect", 202: "accept", 260: "wait for a child", 32: "file lock", 82: "fsync", 83: "fsync", 25: "fcntl", 98: "lock", 22: "poll",
    95: "wait for a child", 242: "accept", 441: "poll",
}  # fmt: skip
_CALLS = _X86 if platform.machine() in {"x86_64", "AMD64"} else _ARM if platform.machine() in {"aarch64", "arm64"} else {}
_ON_DESCRIPTOR = {"read", "write", "readv", "send", "recv", "connect", "accept", "fsync", "file lock"}
_STATES = {"R": "running", "S": "waiting", "D": "in the kernel: disk, network file system or driver", "T": "stopped", "t": "traced", "Z": "ended"}


def describe(root: int, silent: float) -> list[str]:
    """Say in lines what the run under a process does.

    Args:
        root: the child.
        silent: seconds since it printed something.

    """
    before = {process.pid: process.ticks for _, process in processes.tree(root)}
    started = time.monotonic()
    time.sleep(SAMPLE)
    passed = time.monotonic() - started
    listed = processes.tree(root)
    out = [f"nothing was printed for {duration(silent)}; this is what the run does"]
    if not listed:
        return [*out, "  its processes cannot be looked at here (no /proc)"]
    used = {process.pid: (process.ticks - before.get(process.pid, process.ticks)) / processes.TICKS / passed for _, process in listed}
    found = sockets.of([process.pid for _, process in listed])
    out.append(f"  {_summary([process for _, process in listed], used)}")
    ranks = {process.pid: rank for _, process in listed if (rank := _rank(process.pid)) is not None}
    out += [f"  {line}" for line in _apart([process for _, process in listed], ranks)]
    for depth, process in listed[:SHOWN]:
        waits = _where(process)
        cores = f"{used[process.pid]:.0%} of a core"
        threads = f", {process.threads} threads" if process.threads > 1 else ""
        own = f"rank {ranks[process.pid]}: " if process.pid in ranks else ""
        out.append(f"  {'  ' * depth}{process.pid} {own}{process.command[:100]}")
        state = _STATES.get(process.state, process.state)
        out.append(f"  {'  ' * depth}  state {process.state} ({state}), {cores}{threads}{f', {waits}' if waits else ''}")
    if len(listed) > SHOWN:
        out.append(f"  and {len(listed) - SHOWN} processes more")
    out += [f"  {line}" for line in _sockets(found)]
    out += [f"  {line}" for line in _gpus({process.pid for _, process in listed})]
    out += [f"  {line}" for line in _stacks([process for _, process in listed])]
    return out


def _summary(listed: list[Process], used: dict[int, float]) -> str:
    """Say in one sentence what it comes to."""
    states = [process.state for process in listed]
    total = sum(used.values())
    if "D" in states:
        return "a process waits inside the kernel and cannot be interrupted: a disk, a network file system or a driver does not answer"
    if all(state in "TZ" for state in states):
        return "it is stopped (SIGSTOP, Ctrl-Z or a debugger): kill -CONT lets it go on"
    if total >= BUSY:
        return f"it computes ({total:.1f} cores): slow work without output, an endless loop, or a spinning wait for a GPU or a peer"
    if listed[0].state == "S" and _reads_input(listed):
        return "it waits for input from the terminal or pipe on its standard input"
    return "it waits and hardly uses the CPU: for a lock, a socket, a child or a GPU (see each process)"


def _rank(pid: int) -> int | None:
    """Give the rank of a process, as its launcher told it."""
    told = collectives.environment(pid).get("RANK", "")
    return int(told) if told.isdigit() else None


def _apart(listed: list[Process], ranks: dict[int, int]) -> list[str]:
    """Name the rank that waits otherwise than all others do: it is what they wait for."""
    waits: dict[str, list[Process]] = {}
    seen: set[int] = set()
    for process in listed:
        rank = ranks.get(process.pid)
        if rank is not None and rank not in seen and process.state != "Z":  # what stands below a rank are its workers
            seen.add(rank)
            waits.setdefault(_where(process).partition(",")[0].partition(" (")[0] or f"in state {process.state}", []).append(process)
    groups = sorted(waits.items(), key=lambda item: len(item[1]))
    if len(groups) != 2 or len(groups[0][1]) != 1 or len(groups[1][1]) < 2:
        return []
    (odd, (one,)), (usual, rest) = groups
    others = name_ranks([ranks[process.pid] for process in rest])
    return [f"rank {ranks[one.pid]} (process {one.pid}) waits {odd}, where {others} wait {usual}: look there first"]


def _reads_input(listed: list[Process]) -> bool:
    return any(len(process.syscall) > 1 and _CALLS.get(process.syscall[0]) == "read" and process.syscall[1] == 0 for process in listed)


def _where(process: Process) -> str:
    """Say where the main thread waits."""
    parts = []
    if process.syscall:
        call = _CALLS.get(process.syscall[0], f"system call {process.syscall[0]}")
        if call == "lock" and process.threads > 1:
            call = "lock (it waits for another thread, process or the GPU)"
        if call in _ON_DESCRIPTOR and len(process.syscall) > 1 and process.syscall[1] < 1 << 20:
            target = processes.link(process.pid, process.syscall[1])
            call += f" on descriptor {process.syscall[1]}" + (f" ({target})" if target else "")
        parts.append(f"in {call}")
    if process.wchan:
        parts.append(f"wchan {process.wchan}")
    return ", ".join(parts)


def _sockets(found: list[sockets.Socket]) -> list[str]:
    lines = []
    for one in found[:SOCKETS_SHOWN]:
        queue = ", ".join(f"{count:,} bytes {what}" for count, what in ((one.unsent, "unsent"), (one.unread, "unread")) if count)
        way = one.local if one.state == "listening" else f"{one.local} to {one.remote}"
        lines.append(f"tcp {way}: {one.state}{f', {queue}' if queue else ''} (process {one.pid})")
    if len(found) > SOCKETS_SHOWN:
        lines.append(f"and {len(found) - SOCKETS_SHOWN} sockets more")
    return lines


def _gpus(pids: set[int]) -> list[str]:
    """Say what the GPUs do that the run holds, or all where the driver hides who holds what."""
    from aifix.probes import nvml

    reading = nvml.read()
    lines = []
    for gpu in reading.gpus:
        if gpu.lost:
            lines.append(f"GPU {gpu.index}: lost ({gpu.lost})")
            continue
        own = [holder for holder in gpu.holders or () if holder.pid in pids]
        if gpu.holders and not own and pids & {holder.pid for other in reading.gpus for holder in other.holders or ()}:
            continue
        parts = [f"{gpu.busy} % busy" if gpu.busy is not None else ""]
        if gpu.used is not None and gpu.total:
            parts.append(f"{gpu.used / 2**30:.1f} of {gpu.total / 2**30:.1f} GiB used")
        if own:
            parts.append("held by " + ", ".join(str(holder.pid) for holder in own))
        lines.append(f"GPU {gpu.index}: " + ", ".join(filter(None, parts)))
    return lines


def _stacks(listed: list[Process]) -> list[str]:
    """Dump the stacks of Python processes with py-spy, where it is installed, and say in which collective the ranks stand."""
    pythons = [process for process in listed if "python" in os.path.basename(_exe(process.pid)) and process.state != "Z"]
    if not pythons:
        return []
    recorders = collectives.recorders([process.pid for process in pythons], processes.started(listed[0].pid))
    spy = shutil.which("py-spy") or _beside("py-spy")
    if spy is None:
        return [*recorders, "for the Python stacks: pip install py-spy, then py-spy dump --pid " + str(pythons[0].pid)]
    dumps = {process.pid: _dump(spy, process.pid) for process in pythons[:DUMPS]}
    stacks = {pid: collectives.frames(text) for pid, text in dumps.items()}
    stands = {pid: collectives.standing(pid, stack, collectives.environment(pid)) for pid, stack in stacks.items() if stack}
    ranks = [one for one in stands.values() if one is not None]
    lines = collectives.describe(ranks) + recorders
    # those that are not where the others wait tell most
    order = sorted(dumps, key=lambda pid: (one := stands.get(pid)) is None or one.collective)
    for pid in order[:PRINTED]:
        text = dumps[pid]
        lines.append(f"stacks of {pid} (py-spy):")
        lines += [f"  {line}" for line in text[:STACK_LINES]]
        if len(text) > STACK_LINES:
            lines.append(f"  and {len(text) - STACK_LINES} lines more")
    if len(pythons) > PRINTED:
        lines.append(f"and {len(pythons) - PRINTED} Python processes more: py-spy dump --pid PID")
    return lines


def _dump(spy: str, pid: int) -> list[str]:
    command = [spy, "dump", "--nonblocking", "--pid", str(pid)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=DUMP_LIMIT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return [f"py-spy dump --pid {pid}: {error}"]
    text = (done.stdout if done.returncode == 0 else done.stdout + done.stderr).decode("utf-8", "replace").rstrip().splitlines()
    if done.returncode and any("ermission" in line for line in text):
        return ["py-spy may not look at this process: run aifix as root, or allow ptrace (a container needs --cap-add SYS_PTRACE)"]
    return text


def _beside(name: str) -> str | None:
    """Find a program beside our own interpreter: aifix may be called by its path, from an environment that is not on PATH."""
    path = os.path.join(os.path.dirname(sys.executable), name)
    return path if os.access(path, os.X_OK) else None


def _exe(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""
