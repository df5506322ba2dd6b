"""The GPU probes on answers in NVML's form, and on a real card where there is one (-m gpu)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.probes.parts import Nvml, case, here, tree

from aifix.probes import cuda, gpu, health, nvml

if TYPE_CHECKING:
    from aifix.probes.machine import Machine

GIB = 1 << 30


def at(name: str, root: Path = Path("/"), **environ: str) -> Machine:
    return here(root=root, nvml=Nvml(name), environ=environ)


def test_memory_of_the_card_in_the_log_decides() -> None:
    full = gpu.memory(case(at("full"), "cuda.oom", gpu=1, requested=2 * GIB))
    assert full.status == "confirmed"
    assert "GPU 1 has 1.00 GiB of 80.00 GiB free now" in full.summary
    assert full.data["free"] == GIB
    assert gpu.memory(case(at("full"), "cuda.oom-other-process", gpu=0)).status == "refuted"


def test_a_free_card_after_the_run_neither_proves_nor_refutes_that_the_run_filled_it() -> None:
    assert gpu.memory(case(at("healthy"), "cuda.oom", gpu=0, requested=2 * GIB)).status == "inconclusive"


def test_more_than_the_whole_card_is_confirmed() -> None:
    assert gpu.memory(case(at("healthy"), "cuda.oom", gpu=0, requested=400 * GIB)).status == "confirmed"


def test_visible_devices_renumber_the_cards() -> None:
    machine = at("full", CUDA_VISIBLE_DEVICES="1")
    assert gpu.memory(case(machine, "cuda.oom", gpu=0)).data["gpu"] == 1


def test_another_card_than_the_logs_is_said_to_be_another() -> None:
    found = gpu.memory(case(at("healthy"), "cuda.oom", gpu=0, capacity=24 * GIB))
    assert found.status == "inconclusive"
    assert "another card" in found.summary


def test_without_a_suspicion_the_fullest_card_counts() -> None:
    assert gpu.memory(case(at("full"))).status == "confirmed"
    assert gpu.memory(case(at("healthy"))).status == "refuted"


def test_processes_names_who_holds_it(tmp_path: Path) -> None:
    root = tree(tmp_path, {"/proc/4242/cmdline": "python\0train.py\0--old\0", "/proc/4242/stat": "4242 (python) S 1 1 1"})
    found = gpu.processes(case(at("full", root), "cuda.oom", gpu=1))
    assert found.status == "confirmed"
    assert "4242" in found.summary
    assert "left over" in found.summary
    assert "python train.py --old" in " ".join(found.evidence)


def test_memory_that_nobody_visible_holds_is_told() -> None:
    found = gpu.processes(case(at("hidden")))
    assert found.status == "confirmed"
    assert found.data["unseen"] == 60 * GIB


def test_health_lists_every_fault_of_every_card() -> None:
    found = health.health(case(at("sick", Path("/nowhere"))))
    text = " ".join([found.summary, *found.evidence])
    assert found.status == "confirmed"
    for part in ("3 uncorrectable memory errors", "waits for a reset", "heat (hardware)", "91 °C", "GPU 1 is lost"):
        assert part in text


def test_health_reads_xids_of_the_kernel_log(tmp_path: Path) -> None:
    line = "Mar  3 10:00:00 node kernel: NVRM: Xid (PCI:0000:65:00): 79, pid=1234, name=python, GPU has fallen off the bus.\n"
    root = tree(tmp_path, {"/var/log/kern.log": line})
    found = health.health(case(at("healthy", root)))
    assert found.status == "confirmed"
    assert found.data["xids"][0]["xid"] == "79"
    root = tree(tmp_path, {"/var/log/kern.log": line.replace("79", "31")})
    assert health.health(case(at("healthy", root))).status == "refuted"  # 31 is the program's own fault


def test_modes_are_notes_unless_they_are_the_question() -> None:
    assert health.health(case(at("modes", Path("/nowhere")))).status == "refuted"
    busy = health.health(case(at("modes", Path("/nowhere")), "cuda.busy"))
    assert busy.status == "confirmed"
    assert "exclusive process" in busy.summary


def test_runtime_tells_why_no_device_is_seen() -> None:
    assert cuda.runtime(case(at("healthy"))).status == "refuted"
    hidden = cuda.runtime(case(at("healthy", CUDA_VISIBLE_DEVICES=""), "cuda.no-device"))
    assert hidden.status == "confirmed"
    assert "hides all 2 devices" in hidden.summary
    unknown = cuda.runtime(case(at("healthy", CUDA_VISIBLE_DEVICES="0,7"), "cuda.no-device"))
    assert "names 7" in unknown.summary
    beyond = cuda.runtime(case(at("healthy"), "cuda.invalid-device-ordinal", device=5))
    assert beyond.status == "confirmed"
    assert cuda.runtime(case(at("healthy"), "cuda.invalid-device-ordinal", device=1)).status == "refuted"


def test_a_driver_update_that_waits_for_a_reboot(tmp_path: Path) -> None:
    version = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Tue Mar  5 22:42:15 UTC 2024\n"
    found = cuda.runtime(case(at("mismatch", tree(tmp_path, {"/proc/driver/nvidia/version": version})), "cuda.driver-mismatch"))
    assert found.status == "confirmed"
    assert "535.161.08" in found.summary


def test_no_driver_is_an_answer(tmp_path: Path) -> None:
    nowhere = at("not-loaded", tmp_path)
    for probe in (gpu.memory, gpu.processes, health.health, cuda.runtime):
        assert probe(case(nowhere)).status == "not-available"
    assert cuda.runtime(case(nowhere, "cuda.no-driver")).status == "confirmed"
    card = {"/sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de\n", "/sys/bus/pci/devices/0000:01:00.0/class": "0x030200\n"}
    assert "1 NVIDIA card is in this machine" in cuda.runtime(case(at("not-loaded", tree(tmp_path, card)))).summary


@pytest.mark.gpu
def test_a_real_card_is_read() -> None:
    reading = nvml.read()
    if reading.problem:
        pytest.skip(reading.problem)
    assert reading.gpus[0].total
    assert reading.gpus[0].capability is not None
    assert gpu.memory(case(here())).status in {"confirmed", "refuted"}
    assert health.health(case(here())).status in {"confirmed", "refuted"}
