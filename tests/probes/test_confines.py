"""host.container, host.cpu and host.clock: what confines the program, what its CPU offers, what its clock says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.probes.parts import Nvml, case, here, tree, wheel

from aifix.probes import clock, confines, cpu

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GIB = 1 << 30
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
STATUS = {"/proc/self/status": "Name:\tpython\nCpus_allowed_list:\t0-3,8\n"}
V2 = {"/proc/self/cgroup": "0::/kubepods/pod1\n"}


def looked(root: Path, environ: dict[str, str], suspicion: str = "", **more: Any) -> Any:
    return confines.confines(case(here(root=root, environ=environ, **more), suspicion))


def test_a_quota_of_cgroup_version_2_and_how_often_it_ran_out(tmp_path: Path) -> None:
    folder = "/sys/fs/cgroup/kubepods/pod1"
    files = {**V2, **STATUS, f"{folder}/cpu.max": "150000 100000\n", f"{folder}/cpu.stat": "usage_usec 9\nnr_periods 1000\nnr_throttled 640\n"}
    found = looked(tree(tmp_path, files), {"KUBERNETES_SERVICE_HOST": "10.0.0.1"})
    assert found.status == "confirmed"
    assert "CPU quota of 1.5 CPUs ran out in 64% of its periods" in found.summary
    assert (found.data["container"], found.data["allowed_cpus"]) == ("Kubernetes", 5)


def test_a_quota_of_cgroup_version_1(tmp_path: Path) -> None:
    files = {**STATUS, "/proc/self/cgroup": "4:cpu,cpuacct:/docker/abc\n3:memory:/docker/abc\n", "/.dockerenv": ""}
    files |= {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}
    files |= {"/sys/fs/cgroup/memory/memory.limit_in_bytes": f"{8 * GIB}\n", "/sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB}\n"}
    found = looked(tree(tmp_path, files), {"OMP_NUM_THREADS": "32"})
    assert found.data["cpu_quota"] == 2
    assert found.data["memory_limit"] == 8 * GIB
    assert found.summary == "OMP_NUM_THREADS=32, and 2 CPUs may be used: the threads take each other's time"


@pytest.mark.parametrize(
    ("environ", "part"),
    [
        ({"SLURM_CPUS_PER_TASK": "16"}, "asked for 16 CPUs per task, and this process may run on 5"),
        ({"SLURM_NTASKS": "8", "WORLD_SIZE": "4"}, "WORLD_SIZE is 4 and Slurm started 8 tasks"),
        ({"SLURM_MEM_PER_NODE": "65536"}, "asked for 64.00 GiB of memory, and its cgroup allows 8.00 GiB"),
        ({"SLURM_GPUS_ON_NODE": "2", "CUDA_VISIBLE_DEVICES": "0,1,2,3"}, "gave this node's job 2 GPUs, and CUDA_VISIBLE_DEVICES=0,1,2,3 shows 4"),
        ({"SLURM_JOB_GPUS": "0,1,2"}, "gave this node's job 3 GPUs, and the driver shows 2"),
        ({}, "was given no GPU"),
        ({"CUDA_VISIBLE_DEVICES": "", "SLURM_JOB_END_TIME": "-5"}, "the job's time is over (Slurm)"),
        ({"CUDA_VISIBLE_DEVICES": "", "SLURM_JOB_END_TIME": "245"}, "ends in 4 minutes"),
    ],
)
def test_what_slurm_was_asked_for_against_what_the_job_has(tmp_path: Path, environ: dict[str, str], part: str) -> None:
    files = {**V2, **STATUS, "/sys/fs/cgroup/memory.max": f"{8 * GIB}\n", "/proc/driver/nvidia/gpus/0000:01:00.0/information": ""}
    given = {"SLURM_JOB_ID": "42", **environ}
    if "SLURM_JOB_END_TIME" in given:  # in seconds from now: the table is read when the tests are collected
        given["SLURM_JOB_END_TIME"] = str(int(time.time()) + int(given["SLURM_JOB_END_TIME"]))
    found = looked(tree(tmp_path, files), given, nvml=Nvml("healthy"))
    assert found.status == "confirmed"
    assert part in " ".join([found.summary, *found.evidence])


def test_a_sound_slurm_job_is_told_and_confirms_nothing(tmp_path: Path) -> None:
    environ = {"SLURM_JOB_ID": "42", "SLURM_NTASKS": "4", "WORLD_SIZE": "4", "SLURM_CPUS_PER_TASK": "4", "SLURM_GPUS_ON_NODE": "2"}
    found = looked(tree(tmp_path, {**V2, **STATUS}), environ, nvml=Nvml("healthy"))
    assert found.status == "refuted"
    assert found.summary.startswith("in job 42 of Slurm")


def test_only_a_limit_that_bears_on_the_suspicion_confirms_it(tmp_path: Path) -> None:
    root = tree(tmp_path, {**V2, **STATUS})
    environ = {"SLURM_JOB_ID": "42", "SLURM_GPUS_ON_NODE": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "400"}
    gpu = looked(root, environ, "cuda.no-device")
    assert gpu.status == "confirmed"
    assert "1 GPU, and CUDA_VISIBLE_DEVICES= shows 0" in gpu.summary
    late = looked(root, environ, "host.time-limit")
    assert late.status == "inconclusive"
    assert "OMP_NUM_THREADS=400" in " ".join(late.evidence)


def test_no_cgroups_at_all_is_an_answer(tmp_path: Path) -> None:
    assert looked(tmp_path, {}).status in {"not-available", "refuted"}


INTEL = "processor\t: 0\nmodel name\t: Old CPU\nflags\t\t: fpu sse sse2 pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm{more}\n"
TABLE = {"cpu_features": {"polars": {"needs": "avx avx2", "since": "0.15", "instead": "polars-lts-cpu"}}}


def old(root: Path, more: str = "", **given: Any) -> Any:
    return here(root=tree(root, {"/proc/cpuinfo": INTEL.format(more=more)}), **given)


@pytest.mark.parametrize(
    ("more", "level"),
    [
        ("", 2),
        (" avx avx2 bmi1 bmi2 f16c fma abm movbe", 3),
        (" avx avx2 bmi1 bmi2 f16c fma abm movbe avx512f avx512bw avx512cd avx512dq avx512vl", 4),
    ],
)
def test_levels_of_x86_64(tmp_path: Path, more: str, level: int) -> None:
    assert cpu.cpu(case(old(tmp_path, more))).data["level"] == level


@pytest.mark.parametrize(
    ("line", "lacking"),
    [
        ("RuntimeError: NumPy was built with baseline optimizations: (X86_V2) but your machine doesn't support: (X86_V3)", ["avx", "avx2"]),
        ("Fatal glibc error: CPU does not support x86-64-v3", ["avx", "avx2"]),
        ("The following required CPU features were not detected / missing: avx512f", ["avx512f"]),
    ],
)
def test_what_the_log_misses_is_looked_up(tmp_path: Path, line: str, lacking: list[str]) -> None:
    found = cpu.cpu(case(old(tmp_path), "host.illegal-instruction", lines=(line,)))
    assert found.status == "confirmed", found
    assert found.data["lacking"][: len(lacking)] == lacking
    modern = " avx avx2 bmi1 bmi2 f16c fma abm movbe avx512f avx512bw avx512cd avx512dq avx512vl"
    assert cpu.cpu(case(old(tmp_path, modern), "host.illegal-instruction", lines=(line,))).status == "refuted"


def test_an_unnamed_illegal_instruction_on_a_sound_cpu_tells_nothing(tmp_path: Path) -> None:
    assert (
        cpu.cpu(case(old(tmp_path, " avx avx2"), "host.illegal-instruction", lines=("Illegal instruction (core dumped)",))).status == "inconclusive"
    )


def test_an_installed_package_that_wants_more_is_named(tmp_path: Path, bare: Path, install: Callable[..., None]) -> None:
    env = tmp_path / "env"
    shutil.copytree(bare, env, symlinks=True)
    install(env, "--no-deps", "--no-index", str(wheel(tmp_path, "polars", "1.9.0")))
    machine = old(tmp_path / "root", " hypervisor", python=str(env / "bin/python"), catalogues=lambda: TABLE)
    found = cpu.cpu(case(machine, "host.illegal-instruction"))
    assert found.status == "confirmed"
    assert "polars 1.9.0 needs avx, avx2, which Old CPU does not offer (polars-lts-cpu runs without)" in found.summary


@LINUX
def test_a_library_that_the_linker_marked_with_a_level(tmp_path: Path) -> None:
    """A real compiler and linker: -z x86-64-v4 writes the mark that the loader of glibc 2.33 checks."""
    if not shutil.which("gcc") or os.uname().machine != "x86_64":
        pytest.skip("needs gcc on x86-64")
    (tmp_path / "x.c").write_text("int f(void) { return 1; }\n")
    for level in (2, 3, 4):
        command = ["gcc", "-shared", "-fPIC", f"-Wl,-z,x86-64-v{level}", "-o", str(tmp_path / f"v{level}.so"), str(tmp_path / "x.c")]
        if subprocess.run(command, capture_output=True, check=False, timeout=60).returncode:
            pytest.skip("this linker knows no -z x86-64-vN")
        assert cpu.marked(str(tmp_path / f"v{level}.so")) == level
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "plain.so", tmp_path / "x.c"], check=True, timeout=60)
    assert cpu.marked(str(tmp_path / "plain.so")) in {0, 1}
    found = cpu.cpu(case(old(tmp_path / "root", cwd=str(tmp_path)), "host.illegal-instruction", library="v3.so"))
    assert found.status == "confirmed"
    assert "avx2" in found.summary


def test_arm_and_an_unknown_system_are_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree(tmp_path, {"/proc/cpuinfo": "processor : 0\nFeatures\t: fp asimd evtstrm aes sve\nCPU part : 0xd40\n"})
    found = cpu.cpu(case(here(root=root)))
    assert (found.status, found.data["level"]) == ("refuted", 0)
    monkeypatch.setattr(sys, "platform", "openbsd7")
    assert cpu.cpu(case(here(root=tmp_path / "none"))).status == "not-available"


def test_this_machines_cpu_and_clock_are_read() -> None:
    assert cpu.cpu(case(here())).status in {"refuted", "confirmed", "not-available"}
    started = time.monotonic()
    assert clock.clock(case(here())).status in {"refuted", "inconclusive", "confirmed"}
    assert time.monotonic() - started < 2


def test_files_from_the_future_betray_a_clock_that_was_set_back(tmp_path: Path) -> None:
    (tmp_path / "step.pt").touch()
    assert clock.clock(case(here(cwd=str(tmp_path)))).status != "confirmed"
    ahead = time.time() + 3 * 86400
    os.utime(tmp_path / "step.pt", (ahead, ahead))
    found = clock.clock(case(here(cwd=str(tmp_path))))
    assert found.status == "confirmed"
    assert "step.pt was written 3 days in the future" in found.summary


@pytest.mark.parametrize(("ahead", "status"), [(0, "inconclusive"), (3600, "inconclusive"), (5000, "confirmed"), (-5000, "confirmed")])
def test_the_hardware_clock_against_the_systems(tmp_path: Path, ahead: int, status: str) -> None:
    """Whole hours apart are a hardware clock that keeps local time."""
    root = tree(tmp_path / "root", {"/sys/class/rtc/rtc0/since_epoch": f"{int(time.time()) + ahead}\n"})
    (tmp_path / "work").mkdir()
    assert clock.clock(case(here(root=root, cwd=str(tmp_path / "work")))).status == status


def test_a_clock_that_a_service_keeps_and_a_slow_source(tmp_path: Path) -> None:
    files = {"/run/systemd/timesync/synchronized": "", "/sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n"}
    (tmp_path / "work").mkdir()
    found = clock.clock(case(here(root=tree(tmp_path / "root", files), cwd=str(tmp_path / "work"))))
    assert found.status == "refuted"
    assert "from hpet, which is slow" in " ".join(found.evidence)


def test_a_clock_that_was_never_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 86400.0)
    found = clock.clock(case(here(cwd=str(tmp_path))))
    assert found.status == "confirmed"
    assert "1970-01-02" in found.summary
