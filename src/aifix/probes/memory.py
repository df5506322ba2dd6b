"""host.memory and host.shm: RAM, swap, the cgroup's limits, kills by the kernel, shared memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear
from aifix.reason.expressions import size

if TYPE_CHECKING:
    from aifix.probes.machine import Machine

SHORT = 0.75
"""Used share of host memory from which it counts as short."""
SHM_FULL = 0.9
SHM_SMALL = 1 << 30
"""Bytes of /dev/shm below which data loader workers soon fail; Docker's default is 64 MiB."""
NO_LIMIT = 1 << 60


def host(case: Case) -> Finding:
    """Look at host memory."""
    machine = case.machine
    figures = machine.once("meminfo", lambda: meminfo(machine))
    if not figures:
        return _elsewhere()
    group = machine.once("cgroup", lambda: cgroup(machine))
    total, free = figures["MemTotal"], figures.get("MemAvailable", figures.get("MemFree", 0))
    data: dict[str, Any] = {"total": total, "available": free, "swap_total": figures.get("SwapTotal", 0), "swap_free": figures.get("SwapFree", 0)}
    evidence = [f"RAM {size(total)}, {size(free)} available; swap {size(data['swap_total'])}, {size(data['swap_free'])} free"]
    limit = group.get("limit")
    if limit:
        used = group.get("used", 0)
        data |= {"limit": limit, "used": used}
        evidence.append(f"the cgroup allows {size(limit)} and uses {size(used)}")
        free, total = min(free, max(0, limit - used)), min(total, limit)
        data["available"] = free
    kills = group.get("kills")
    if kills is not None:
        data["oom_kills"] = kills
    total_kills = _number(machine.read("/proc/vmstat"), "oom_kill")
    if total_kills is not None:
        data["oom_kills_machine"] = total_kills
    if kills:
        evidence.append(f"the kernel has killed {kills} process{'es' if kills > 1 else ''} of this cgroup for memory")
    elif total_kills:
        evidence.append(f"since boot the kernel has killed {total_kills} process{'es' if total_kills > 1 else ''} of this machine for memory")
    return _judge(case, free, total, data, evidence)


def _judge(case: Case, free: int, total: int, data: dict[str, Any], evidence: list[str]) -> Finding:
    share = 1 - free / total if total else 1.0
    data["used_share"] = round(share, 3)
    wanted = case.number("requested", "size", "bytes") if case.suspicion else None
    figure = f"{size(free)} of {size(total)} are available"
    if wanted and wanted > free:
        return confirmed(f"{size(wanted)} were asked for and {figure}", data | {"requested": wanted}, evidence)
    if data.get("oom_kills"):
        return confirmed(f"the kernel has killed here for memory, within a limit of {size(data.get('limit', total))}; now {figure}", data, evidence)
    if share > SHORT:
        return confirmed(f"host memory is {share:.0%} full: {figure}", data, evidence)
    if case.about("host.oom-killed"):
        if data.get("oom_kills_machine"):
            return confirmed(f"the kernel has killed for memory on this machine; now {figure}", data, evidence)
        if "oom_kills_machine" in data or "oom_kills" in data:
            return refuted(f"the kernel counts no kill for memory, and {figure}", data, evidence)
        # After the kill the memory is free again: that it is free proves nothing.
        return unclear(f"now {figure}; the kernel does not say here whether it killed", data, evidence)
    if case.about("host.cpu-alloc") and wanted:
        return refuted(f"{size(wanted)} were asked for, and now {figure}", data, evidence)
    return refuted(f"{figure} ({share:.0%} used)", data, evidence)


def shm(case: Case) -> Finding:
    """Look at shared memory."""
    machine = case.machine
    path = machine.path("/dev/shm")
    try:
        status = os.statvfs(path)
    except (OSError, AttributeError):
        return absent("there is no /dev/shm on this machine")
    total, free = status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize
    data = {"total": total, "free": free}
    used = 1 - free / total if total else 1.0
    files = sum(name.startswith(("torch_", "nccl-", "psm_", "sem.")) for name in machine.names("/dev/shm"))
    evidence = [f"/dev/shm holds {files} files of PyTorch, NCCL or Python; after a crash they stay until they are removed"] if files else []
    wanted = case.number("requested") if case.suspicion else None
    if wanted and wanted > free:
        return confirmed(f"{size(wanted)} were asked for, and /dev/shm has {size(free)} of {size(total)} free", data, evidence)
    if used > SHM_FULL:
        return confirmed(f"/dev/shm is {used:.0%} full: {size(free)} of {size(total)} are free", data, evidence)
    if total < SHM_SMALL:
        docker = " (Docker's default: --shm-size or --ipc=host raises it)" if total == 64 << 20 else ""
        return confirmed(f"/dev/shm holds only {size(total)}{docker}", data, evidence)
    return refuted(f"/dev/shm has {size(free)} of {size(total)} free", data, evidence)


def meminfo(machine: Machine) -> dict[str, int]:
    """Read /proc/meminfo in bytes."""
    found = {}
    for line in machine.read("/proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            found[name] = int(words[0]) * (1024 if len(words) > 1 else 1)
    return found if "MemTotal" in found else {}


def cgroup(machine: Machine) -> dict[str, int]:
    """Read the tightest memory limit of our cgroup (version 2 or 1), its use, and how often the kernel killed in it."""
    unified, legacy = "", ""
    for line in machine.read("/proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers == "":
            unified = path
        elif "memory" in controllers.split(","):
            legacy = path
    found: dict[str, int] = {}
    if legacy or machine.exists("/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        _walk(machine, "/sys/fs/cgroup/memory", legacy, ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control"), found)
    else:
        _walk(machine, "/sys/fs/cgroup", unified, ("memory.max", "memory.current", "memory.events"), found)
    return found


def _walk(machine: Machine, top: str, path: str, names: tuple[str, str, str], found: dict[str, int]) -> None:
    """Look at a cgroup and those above it; inside a container its path is not ours, and only the top is there."""
    parts = [part for part in path.split("/") if part and part != ".."]
    for depth in range(len(parts), -1, -1):
        folder = "/".join([top, *parts[:depth]])
        limit = machine.number(f"{folder}/{names[0]}")
        if limit is not None and limit < NO_LIMIT and limit < found.get("limit", NO_LIMIT):
            found["limit"] = limit
            found["used"] = _reclaimable(machine, folder, machine.number(f"{folder}/{names[1]}") or 0)
        kills = _number(machine.read(f"{folder}/{names[2]}"), "oom_kill")
        if kills is not None:
            found.setdefault("kills", kills)


def _reclaimable(machine: Machine, folder: str, used: int) -> int:
    """Take the page cache that the kernel gives up under pressure off what a cgroup uses."""
    text = machine.read(f"{folder}/memory.stat")
    cache = _number(text, "inactive_file") or _number(text, "total_inactive_file") or 0
    return max(0, used - cache)


def _number(text: str, name: str) -> int | None:
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name and value.strip().isdigit():
            return int(value)
    return None


def _elsewhere() -> Finding:
    """Ask the C library where there is no /proc."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return absent("this system does not tell its memory by /proc/meminfo")
    return unclear(f"RAM {size(total)}; what of it is free, this system does not tell by /proc/meminfo", {"total": total})
