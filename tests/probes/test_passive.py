"""What the passive probes may cost, and what they answer where nothing is: no GPU, no driver, no torch, no npm, no /proc, Windows, macOS."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from tests.probes.parts import case, here

from aifix.probes import clock, confines, cpu, disk, interpreter, libc, limits, memory, network, nvml, packages, registry, run
from aifix.probes import target as targets
from aifix.probes.finding import Case
from aifix.probes.probing import PASSIVE_LIMIT

if TYPE_CHECKING:
    from pathlib import Path

PASSIVE = [one for one in registry.PROBES if not one.active]
COST = """
import json, resource, sys, time
sys.path.insert(0, {source!r})
from aifix.probes import registry, run
from aifix.probes.finding import Case
from aifix.probes.machine import Machine
from aifix.probes.target import Target
passive = [one for one in registry.PROBES if not one.active]


def peak():
    # getrusage's figure holds that of the process before exec too
    try:
        with open("/proc/self/status") as stream:
            return next(int(line.split()[1]) for line in stream if line.startswith("VmHWM")) * 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


before = peak()
started = time.process_time()
case = Case(Machine(Target({python!r}, "--python")))
answers = run.passive([(one, case) for one in passive], limit=20)
took = time.process_time() - started
children = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({{
    "took": took, "late": [one.id for one, answer in zip(passive, answers) if answer.status == "not-run"],
    "grown": peak() - before,
    "children": children.ru_utime + children.ru_stime, "heavy": sorted({{"torch", "numpy", "pandas", "sqlite_utils", "rich"}} & set(sys.modules)),
}}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs getrusage")
def test_all_passive_probes_together_cost_less_than_half_a_second_and_little_memory() -> None:
    """By CPU time, with the imports of the probes, in this very environment of a hundred packages; no process is started, no torch imported."""
    source = str(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(registry.__file__)))))  # noqa: PTH100, PTH120 - as the script needs it
    costs = []
    for _ in range(3):  # the first reads cold files
        done = subprocess.run(
            [sys.executable, "-c", COST.format(source=source, python=sys.executable)], capture_output=True, text=True, timeout=60, check=True
        )
        costs.append(json.loads(done.stdout))
    assert min(cost["took"] for cost in costs) < PASSIVE_LIMIT
    assert 0 < max(cost["grown"] for cost in costs) < 150 << 20
    assert costs[0]["children"] == 0
    assert costs[0]["heavy"] == []
    assert costs[0]["late"] == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_DATA counts on Linux")
def test_the_memory_of_a_probed_process_is_bounded(tmp_path: Path) -> None:
    """A factory that takes memory without end gets an error of its own, and nothing else on the machine suffers."""
    (tmp_path / "torch.py").write_text("hoard = []\nwhile True:\n    hoard.append(bytearray(64 << 20))\n")
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 4000000 kB\nMemAvailable: 2000000 kB\n")
    machine = here(root=tmp_path, cwd=str(tmp_path), environ={**os.environ, "PYTHONPATH": str(tmp_path)})
    found = run.one(registry.BY_ID["numerics.layers"], case(machine, options={"model": "a:b", "timeout": 40.0}))
    assert "MemoryError" in found.summary, found


@pytest.mark.parametrize("probe", PASSIVE, ids=[one.id for one in PASSIVE])
def test_a_machine_without_anything_gets_answers(probe: registry.Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container without /proc and /sys, without a driver, a Python or npm."""
    monkeypatch.chdir(tmp_path)
    machine = here(root=tmp_path, python="", cwd=str(tmp_path), environ={"PATH": ""})
    for suspicion in ("", "cuda.no-device", "host.oom-killed", "npm.version-conflict", "deps.module-missing", "host.illegal-instruction"):
        found = run.one(probe, case(machine, suspicion))
        assert found.summary
        assert "probe itself failed" not in found.summary, (suspicion, found.summary)


class Gone:
    """A module of which this platform has nothing."""

    def __getattr__(self, name: str) -> object:
        raise AttributeError(name)


def test_windows_has_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: no /proc, no resource limits, no statvfs, environments with Scripts and Lib."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(targets, "WINDOWS", True)
    monkeypatch.setitem(sys.modules, "resource", None)
    monkeypatch.delattr(os, "statvfs", raising=False)
    monkeypatch.delattr(os, "sysconf", raising=False)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(total=500 << 30, used=100 << 30, free=400 << 30))
    env = tmp_path / "env"
    (env / "Scripts").mkdir(parents=True)
    (env / "Scripts/python.exe").write_bytes(b"MZ")
    (env / "Scripts/python.exe").chmod(0o755)
    (env / "Lib/site-packages/einops-0.8.0.dist-info").mkdir(parents=True)
    (env / "Lib/site-packages/einops-0.8.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: einops\nVersion: 0.8.0\n")
    (env / "pyvenv.cfg").write_text(f"home = {tmp_path}\\base\nversion = 3.11.4\n")
    found = targets.find(environ={"VIRTUAL_ENV": str(env)}, files=[])
    assert found.python == str(env / "Scripts/python.exe")
    frame = f"{env}/Lib/site-packages/torch/nn/module.py"
    assert targets.find(environ={}, files=[frame]).how == "its site-packages stand in the traceback"
    installed = packages.read(interpreter.read(found.python))
    assert installed is not None
    assert installed.version("einops") == "0.8.0"
    machine = here(root=tmp_path / "none", python=found.python, cwd=str(tmp_path), environ={})
    assert limits.limits(case(machine)).status == "not-available"
    assert libc.versions(case(machine)).status == "not-available"
    assert memory.shm(case(machine)).status == "not-available"
    assert memory.host(case(machine)).status == "not-available"
    assert disk.disk(case(machine)).status == "refuted"
    assert confines.confines(case(machine)).status in {"refuted", "not-available"}
    assert clock.clock(case(machine)).status in {"refuted", "inconclusive"}


def test_macos_has_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS: no /proc, no /dev/shm, a kernel that tells its CPU by sysctl, ports found by binding them."""
    monkeypatch.setattr(sys, "platform", "darwin")
    told = {
        "machdep.cpu.brand_string": "Intel(R) Core(TM) i7",
        "machdep.cpu.features": "FPU SSE SSE2 SSE3 SSSE3 SSE4.1 SSE4.2 CX16 POPCNT AVX1.0 F16C FMA",
    }
    monkeypatch.setattr(cpu, "_sysctl", lambda name: told.get(name, ""))
    machine = here(root=tmp_path, cwd=str(tmp_path), environ={})
    found = cpu.cpu(case(machine, "host.illegal-instruction", lines=("your CPU does not support AVX2",)))
    assert found.status == "confirmed"
    assert found.summary.startswith("the build wants avx2, and Intel(R) Core(TM) i7")
    monkeypatch.setattr(cpu, "_sysctl", lambda name: "\x01" if name == "sysctl.proc_translated" else told.get(name, ""))
    assert "Rosetta" in cpu.cpu(case(machine, "host.illegal-instruction")).summary
    assert memory.host(case(machine)).status in {"inconclusive", "not-available"}
    assert memory.shm(case(machine)).status == "not-available"
    assert libc.versions(case(machine)).status == "not-available"
    assert network.port(case(machine, options={"port": 1})).status in {"confirmed", "refuted"}
    assert clock.clock(case(machine)).status in {"refuted", "inconclusive"}
    assert nvml.read(Gone()).problem


def test_a_folder_that_was_removed_under_the_run_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    machine = here(environ={"PATH": os.defpath})
    for probe in PASSIVE:
        found = run.one(probe, Case(machine))
        assert "probe itself failed" not in found.summary, (probe.id, found.summary)
