"""host.limits: how many open files, processes and how much locked memory this user may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear
from aifix.reason.expressions import size

if TYPE_CHECKING:
    from aifix.probes.machine import Machine

FEW_FILES = 4096
FEW_PROCESSES = 4096
NAMES = {
    "nofile": "RLIMIT_NOFILE",
    "nproc": "RLIMIT_NPROC",
    "memlock": "RLIMIT_MEMLOCK",
    "stack": "RLIMIT_STACK",
    "as": "RLIMIT_AS",
    "core": "RLIMIT_CORE",
}


def limits(case: Case) -> Finding:
    """Look at the limits."""
    try:
        import resource
    except ImportError:
        return absent("this system has no resource limits as Linux and macOS have them")
    data: dict[str, Any] = {}
    for name, constant in NAMES.items():
        if hasattr(resource, constant):
            soft, hard = resource.getrlimit(getattr(resource, constant))
            data[name] = None if soft == resource.RLIM_INFINITY else soft
            data[f"{name}_hard"] = None if hard == resource.RLIM_INFINITY else hard
    machine = case.machine
    counted = pids(machine)
    data |= counted
    evidence = [f"open files {_say(data['nofile'])} (up to {_say(data['nofile_hard'])} with ulimit -n)"]
    group = f"; the cgroup allows {counted['pids_limit']:,}, {counted.get('pids', 0):,} run" if counted.get("pids_limit") else ""
    evidence.append(f"processes and threads {_say(data.get('nproc'))}{group}")
    evidence.append(f"locked memory {_bytes(data.get('memlock'))}; address space {_bytes(data.get('as'))}")
    problem, looked = _problem(case, data, machine)
    if problem:
        return confirmed(problem, data, evidence)
    if case.suspicion and not looked:
        return unclear("no limit here bears on it", data, evidence)
    return refuted(
        f"open files {_say(data['nofile'])}, processes {_say(data.get('nproc'))}, locked memory {_bytes(data.get('memlock'))}", data, evidence
    )


def _problem(case: Case, data: dict[str, Any], machine: Machine) -> tuple[str, bool]:
    """Give what is wrong for this suspicion, and whether a limit bears on it at all."""
    files = data.get("nofile")
    few = f"only {files:,} files may be open at once (ulimit -n; up to {_say(data.get('nofile_hard'))} without root)" if files is not None else ""
    if case.about("host.open-files"):
        return (few if files is not None and files <= FEW_FILES else ""), True
    if case.about("host.threads"):
        limit, running = data.get("pids_limit"), data.get("pids", 0)
        if limit is not None and (running > 0.8 * limit or limit < FEW_PROCESSES):
            return f"the cgroup allows {limit:,} processes and threads, and {running:,} run now", True
        if data.get("nproc") is not None and data["nproc"] <= FEW_PROCESSES:
            return f"this user may have only {data['nproc']:,} processes and threads (ulimit -u)", True
        return "", True
    if case.about("host.cpu-alloc"):
        return (f"the address space is limited to {size(data['as'])} (ulimit -v)" if data.get("as") is not None else ""), True
    if case.about("dist.nccl-ib", "dist.nccl-system") and machine.names("/sys/class/infiniband"):
        locked = data.get("memlock")
        return (f"InfiniBand needs locked memory, and only {size(locked)} may be locked (ulimit -l)" if locked is not None else ""), True
    if not case.suspicion:
        if machine.names("/sys/class/infiniband") and data.get("memlock") is not None:
            return f"InfiniBand is here, and only {size(data['memlock'])} may be locked (ulimit -l)", True
        return (few if files is not None and files < 1024 else ""), True
    return "", False


def pids(machine: Machine) -> dict[str, int]:
    """Read the cgroup's limit on processes, where there is one."""
    found: dict[str, int] = {}
    for line in machine.read("/proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers not in {"", "pids"}:
            continue
        top = "/sys/fs/cgroup/pids" if controllers == "pids" else "/sys/fs/cgroup"
        for folder in (f"{top}{path}", top):
            limit, now = machine.number(f"{folder}/pids.max"), machine.number(f"{folder}/pids.current")
            if limit is not None:
                found.setdefault("pids_limit", limit)
            if now is not None:
                found.setdefault("pids", now)
    return found


def _say(value: int | None) -> str:
    return "unlimited" if value is None else f"{value:,}"


def _bytes(value: int | None) -> str:
    return "unlimited" if value is None else size(value)
