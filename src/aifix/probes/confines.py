"""host.container: what a container, a cgroup, Slurm or Kubernetes allows this program, against what the machine has and the program expects."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Any

from aifix.probes import cpu, memory, nvml
from aifix.probes.cuda import container
from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear
from aifix.probes.limits import pids
from aifix.reason.expressions import size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.probes.machine import Machine

THROTTLED = 0.2
"""Share of the cgroup's periods in which its CPU quota ran out from which the job counts as held back."""
SOON = 600
"""Seconds before a job's end from which it is told."""
SLURM = {"SLURM_" + name for name in ("JOB_ID", "CPUS_PER_TASK", "CPUS_ON_NODE", "MEM_PER_NODE", "MEM_PER_CPU", "NTASKS", "NNODES", "GPUS_ON_NODE",
                                      "JOB_GPUS", "STEP_GPUS", "PROCID", "LOCALID", "RESTART_COUNT", "JOB_END_TIME")}  # fmt: skip
BEARING = {
    "gpu": ("cuda.no-device", "cuda.invalid-device-ordinal", "cuda.no-driver", "cuda.busy", "cuda.oom-other-process", "dist.nccl-duplicate-gpu"),
    "memory": ("host.oom-killed", "host.cpu-alloc", "data.worker-killed", "build.oom"),
    "cpu": ("host.threads", "data.slow-loader", "dist.nccl-timeout"),
    "processes": ("host.threads", "data.worker-killed", "host.cpu-alloc"),
    "ranks": ("dist.",),
    "time": ("host.time-limit", "host.interrupted"),
}
"""Which suspicions a limit of each kind bears on: another one is told, and confirms nothing."""


def confines(case: Case) -> Finding:
    """Look at what confines the program."""
    machine = case.machine
    kind = container(machine)
    environ = machine.environ
    data: dict[str, Any] = {"container": kind, "cpus": os.cpu_count(), "allowed_cpus": cpu.count(machine)}
    data |= machine.once("cpu quota", lambda: quota(machine))
    group = machine.once("cgroup", lambda: memory.cgroup(machine))
    data |= {"memory_limit": group.get("limit"), "memory_used": group.get("used"), "memory_kills": group.get("kills")}
    data |= machine.once("cgroup pids", lambda: pids(machine))
    jobs = _jobs(environ)
    data["job"] = jobs
    found = [*_slurm(environ, data, machine), *_cpus(environ, data), *_memory(data), *_pids(data)]
    problems = [text for about, text in found if not case.suspicion or case.about(*BEARING[about])]
    evidence = _evidence(data, kind, jobs) + [text for _, text in found if text not in problems]
    if problems:
        return confirmed(problems[0], data, [*problems[1:], *evidence])
    if not evidence:
        if not machine.exists("/proc/self/cgroup") and not kind and not jobs:
            return absent("this system has no cgroups, and no job manager's environment is set", data)
        return refuted("no container, job manager or cgroup confines this program below the machine's own limits", data)
    return unclear(evidence[0], data, evidence[1:]) if case.suspicion else refuted(evidence[0], data, evidence[1:])


def quota(machine: Machine) -> dict[str, Any]:
    """Read the tightest CPU quota of our cgroup (version 2 or 1), in CPUs, and how often it ran out."""
    unified, legacy = "", None
    for line in machine.read("/proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if not controllers:
            unified = path
        elif "cpu" in controllers.split(","):
            legacy = path
    found: dict[str, Any] = {}
    tops = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"] if legacy is not None else ["/sys/fs/cgroup"]
    for top in tops:
        parts = [part for part in (legacy if legacy is not None else unified).split("/") if part and part != ".."]
        for depth in range(len(parts), -1, -1):
            folder = "/".join([top, *parts[:depth]])
            allowed = _allowed(machine, folder)
            if allowed is not None and allowed < found.get("cpu_quota", allowed + 1):
                found["cpu_quota"] = round(allowed, 2)
            periods, throttled = (_number(machine.read(f"{folder}/cpu.stat", 4096), name) for name in ("nr_periods", "nr_throttled"))
            if periods and throttled is not None:
                found.setdefault("throttled", round(throttled / periods, 3))
    return found


def _allowed(machine: Machine, folder: str) -> float | None:
    """Give the CPUs that one cgroup may use; None where it sets no limit."""
    words = machine.read(f"{folder}/cpu.max", 64).split()
    if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]):
        return int(words[0]) / int(words[1])
    share, period = machine.number(f"{folder}/cpu.cfs_quota_us"), machine.number(f"{folder}/cpu.cfs_period_us")
    return share / period if share is not None and period and share > 0 else None


def _number(text: str, name: str) -> int | None:
    found = re.search(rf"^{name} (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else None


def _jobs(environ: Mapping[str, str]) -> dict[str, str]:
    """Give what the job manager says of this job."""
    found = {name: environ[name] for name in sorted(SLURM) if environ.get(name)}
    for name in ("PBS_JOBID", "LSB_JOBID", "JOB_ID", "RAY_JOB_ID", "KUBERNETES_SERVICE_HOST"):
        if environ.get(name) and (name != "JOB_ID" or environ.get("SGE_ROOT")):
            found[name] = environ[name]
    return found


def _slurm(environ: Mapping[str, str], data: Mapping[str, Any], machine: Machine) -> list[tuple[str, str]]:
    """Compare what Slurm was asked for with what the job has; each finding by what it is about."""
    if not environ.get("SLURM_JOB_ID"):
        return []
    found = []
    own = "srun needs a --cpus-per-task of its own since Slurm 22.05"
    tasks = _leading(environ.get("SLURM_NTASKS"))
    world = _leading(environ.get("WORLD_SIZE"))
    if tasks and world and tasks not in (1, world) and world != tasks * (_leading(environ.get("LOCAL_WORLD_SIZE")) or 1):
        found.append(("ranks", f"WORLD_SIZE is {world} and Slurm started {tasks} tasks (SLURM_NTASKS)"))
    asked = _leading(environ.get("SLURM_CPUS_PER_TASK"))
    if asked and data["allowed_cpus"] < asked:
        found.append(("cpu", f"the job asked for {asked} CPUs per task, and this process may run on {data['allowed_cpus']} ({own})"))
    limit = _leading(environ.get("SLURM_MEM_PER_NODE"))
    if limit and data.get("memory_limit") and data["memory_limit"] < 0.9 * limit * (1 << 20):
        found.append(("memory", f"the job asked for {size(limit << 20)} of memory, and its cgroup allows {size(data['memory_limit'])}"))
    gpus = [part for part in (environ.get("SLURM_STEP_GPUS") or environ.get("SLURM_JOB_GPUS") or "").split(",") if part]
    count = len(gpus) or _leading(environ.get("SLURM_GPUS_ON_NODE")) or 0
    visible = environ.get("CUDA_VISIBLE_DEVICES")
    reading = nvml.of(machine) if count else None
    shown = (
        len([part for part in visible.split(",") if part.strip()])
        if visible is not None
        else len(reading.gpus)
        if reading and not reading.problem
        else None
    )
    if count and shown is not None and shown != count and environ.get("SLURM_GPUS_PER_TASK", "") != str(shown):
        where = f"CUDA_VISIBLE_DEVICES={visible} shows" if visible is not None else "the driver shows"
        found.append(("gpu", f"Slurm gave this node's job {count} GPU{'s' if count > 1 else ''}, and {where} {shown}"))
    if not count and visible is None and machine.names("/proc/driver/nvidia/gpus"):
        found.append(("gpu", "this Slurm job was given no GPU (no --gres=gpu or --gpus), and the node has some"))
    end = _leading(environ.get("SLURM_JOB_END_TIME"))
    left = end - time.time() if end else None
    if left is not None and left < SOON:
        found.append(("time", f"the job's time {'ends in ' + str(round(left / 60)) + ' minutes' if left > 0 else 'is over'} (Slurm)"))
    return found


def _leading(text: str | None) -> int | None:
    """Read the number at the start of a value: Slurm writes 4(x2) and 16G too."""
    found = re.match(r"(\d+)", text or "")
    return int(found[1]) if found else None


def _cpus(environ: Mapping[str, str], data: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    allowed = min([data["allowed_cpus"], *([data["cpu_quota"]] if data.get("cpu_quota") else [])])
    threads = _leading(environ.get("OMP_NUM_THREADS"))
    if threads and threads > 2 * max(1, allowed):
        found.append(("cpu", f"OMP_NUM_THREADS={threads}, and {_cpu(allowed)} may be used: the threads take each other's time"))
    if data.get("throttled", 0) > THROTTLED:
        allows = _cpu(data.get("cpu_quota", allowed))
        found.append(("cpu", f"the cgroup's CPU quota of {allows} ran out in {data['throttled']:.0%} of its periods: the job is held back"))
    return found


def _memory(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    limit, used = data.get("memory_limit"), data.get("memory_used") or 0
    if data.get("memory_kills"):
        of = f" of {size(limit)}" if limit else ""
        return [("memory", f"the kernel has killed {data['memory_kills']} times here at the cgroup's memory limit{of}")]
    if limit and used > 0.95 * limit:
        return [("memory", f"{size(used)} of the cgroup's {size(limit)} of memory are used")]
    return []


def _pids(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    limit, running = data.get("pids_limit"), data.get("pids", 0)
    if limit and running > 0.9 * limit:
        return [("processes", f"{running:,} of the {limit:,} processes and threads that the cgroup allows are running")]
    return []


def _evidence(data: Mapping[str, Any], kind: str, jobs: Mapping[str, str]) -> list[str]:
    found = []
    limits = []
    if data.get("cpu_quota") and data["cpu_quota"] < (data["cpus"] or 1):
        limits.append(f"{_cpu(data['cpu_quota'])} of {data['cpus']} by quota")
    elif data["allowed_cpus"] < (data["cpus"] or 1):
        limits.append(f"{_cpu(data['allowed_cpus'])} of {data['cpus']} by affinity")
    if data.get("memory_limit"):
        limits.append(f"{size(data['memory_limit'])} of memory, {size(data.get('memory_used') or 0)} used")
    if data.get("pids_limit"):
        limits.append(f"{data['pids_limit']:,} processes and threads, {data.get('pids', 0):,} running")
    where = f"inside {'an' if kind[0] in 'AEIOU' else 'a'} {kind} container" if kind else ""
    manager = next(
        (
            name
            for prefix, name in (("SLURM", "Slurm"), ("PBS", "PBS"), ("LSB", "LSF"), ("JOB_ID", "Grid Engine"))
            if any(job.startswith(prefix) for job in jobs)
        ),
        "",
    )
    if where or manager or limits:
        place = " ".join(
            part for part in (where, f"in job {jobs.get('SLURM_JOB_ID', '')} of {manager}".replace("job  of", "a job of") if manager else "") if part
        )
        found.append((place or "the cgroup allows") + (f": {'; '.join(limits)}" if limits else ": no limit below the machine's"))
    found += [f"{name}={value}" for name, value in jobs.items() if name != "KUBERNETES_SERVICE_HOST"]
    if _leading(jobs.get("SLURM_RESTART_COUNT")):
        found.append("Slurm has started this job again: its node failed, or it was preempted")
    return found


def _cpu(number: float) -> str:
    return f"{number:g} CPU{'' if number == 1 else 's'}"
