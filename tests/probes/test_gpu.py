"""The GPU probes on answers in NVML's form, and on a real card where there is one (-m gpu)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from tests.probes.nvml.record import record
from tests.probes.parts import Nvml, NvmlError, case, here, tree

from aifix.probes import cuda, gpu, health, nvml, topology

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


def test_the_container_toolkit_is_looked_for(tmp_path: Path) -> None:
    assert "no NVIDIA container toolkit is here" in " ".join(cuda.runtime(case(at("healthy", tmp_path))).evidence)
    root = tree(tmp_path, {"/usr/bin/nvidia-ctk": "", "/etc/docker/daemon.json": '{"runtimes": {"nvidia": {}}}', "/etc/cdi/nvidia.yaml": ""})
    found = cuda.runtime(case(at("healthy", root)))
    assert found.data["container_toolkit"] == ["nvidia-ctk", "Docker's runtime nvidia", "CDI /etc/cdi/nvidia.yaml"]


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


def test_topology_as_nvidia_smi_draws_it(tmp_path: Path) -> None:
    near, far = "/sys/devices/pci0000:64/0000:64:00.0/0000:65:00.0", "/sys/devices/pci0000:64/0000:64:00.1/0000:66:00.0"
    card = "/sys/devices/pci0000:64/0000:64:00.0/0000:67:00.0"
    root = tree(tmp_path, {f"{path}/numa_node": "0\n" for path in (near, far, card)})
    for link, path in (("bus/pci/devices/0000:65:00.0", near), ("bus/pci/devices/0000:66:00.0", far), ("class/infiniband/mlx5_0/device", card)):
        (root / "sys" / link).parent.mkdir(parents=True, exist_ok=True)
        (root / "sys" / link).symlink_to(root / path.lstrip("/"))
    found = topology.topology(case(at("bridged", root)))
    assert found.status == "refuted"
    assert found.summary == "2 GPUs, every pair joined by NVLink (NV4)"
    assert found.data["matrix"] == [{"gpus": [0, 1], "way": "NV4", "level": "SYS", "nvlinks": 4, "p2p": 0}]
    assert found.data["network"] == {"mlx5_0": {"0": "PIX", "1": "PHB"}}
    assert [line.split() for line in found.evidence[:3]] == [["GPU0", "GPU1", "mlx5_0"], ["GPU0", "X", "NV4", "PIX"], ["GPU1", "NV4", "X", "PHB"]]


def test_links_that_are_down_and_their_errors_are_told() -> None:
    found = topology.topology(case(at("switched", Path("/nowhere"))))
    assert found.status == "confirmed"
    assert found.summary == "GPU 1 has 16 NVLinks up, fewer than the others"
    assert found.data["nvswitch"]
    assert found.data["matrix"][0]["way"] == "NV16"
    assert "GPU 1: 7 replays and recoveries" in " ".join(found.evidence)


def test_cards_over_pcie_without_peer_to_peer(tmp_path: Path) -> None:
    found = topology.topology(case(at("pcie", tmp_path)))
    assert found.status == "refuted"  # that is how these cards are built
    assert found.summary == "2 GPUs are joined by the CPU's PCIe host bridge (PHB), without NVLink"
    asked = topology.topology(case(at("pcie", tmp_path), "dist.nccl-system"))
    assert asked.status == "inconclusive"
    assert "cannot reach each other's memory: the GPUs do not support it" in asked.summary


def test_an_iommu_that_translates_peer_to_peer_is_told(tmp_path: Path) -> None:
    answers = at("pcie", tree(tmp_path, {"/proc/cmdline": "root=/dev/sda1 amd_iommu=on quiet\n"}))
    for device in answers.nvml._answers["devices"]:
        device.update({f"nvmlDeviceGetP2PStatus/{other}/{kind}": 0 for other in (0, 1) for kind in (0, 1)})
    found = topology.topology(case(answers))
    assert found.status == "confirmed"
    assert "iommu=pt" in found.summary


def test_one_card_or_none_has_no_topology(tmp_path: Path) -> None:
    assert topology.topology(case(at("hidden", tmp_path))).summary == "1 GPU is here: there is nothing to join"
    assert topology.topology(case(at("not-loaded", tmp_path))).status == "not-available"


def test_a_card_that_the_fabric_manager_has_not_registered(tmp_path: Path) -> None:
    found = health.health(case(at("switched", tmp_path)))
    assert found.status == "confirmed"
    assert "GPU 1 is not registered with the fabric manager" in " ".join([found.summary, *found.evidence])
    assert [one["fabric_state"] for one in found.data["gpus"]] == [3, 1]


def test_switches_without_a_fabric_manager_are_told(tmp_path: Path) -> None:
    files = {
        "/sys/bus/pci/devices/0000:a0:00.0/vendor": "0x10de\n",
        "/sys/bus/pci/devices/0000:a0:00.0/class": "0x068000\n",
        "/proc/7/comm": "bash\n",
    }
    assert "the fabric manager does not run" in health.health(case(at("healthy", tree(tmp_path, files)))).summary
    assert "the fabric manager does not run" in cuda.runtime(case(at("healthy", tmp_path))).summary
    assert health.health(case(at("healthy", tree(tmp_path, {"/proc/9/comm": "nv-fabricmanage\n"})))).status == "refuted"


def test_a_slow_link_and_retired_pages_are_notes(tmp_path: Path) -> None:
    found = health.health(case(at("pcie", tmp_path)))
    assert found.status == "refuted"
    assert "GPU 1 runs on PCIe generation 1 and could do 4" in found.evidence
    assert any("has retired 2 memory pages" in line for line in found.evidence)


def test_xids_of_the_journal_are_read_without_journalctl(tmp_path: Path) -> None:
    """The journal keeps short messages as they are, between bytes of its own."""
    line = b"\x00\x07PRIORITY=3\x00\x00\x01MESSAGE=NVRM: Xid (PCI:0000:65:00): 48, pid=77, An uncorrectable double bit error\x00\x11"
    root = tree(tmp_path, {"/var/log/journal/0123456789abcdef/system.journal": b"LPKSHHRH" + b"\0" * 4096 + line})
    found = health.health(case(at("healthy", root)))
    assert found.status == "confirmed"
    assert found.data["xids"][0] == {"device": "0000:65:00", "xid": "48", "text": "pid=77, An uncorrectable double bit error"}


def test_what_the_recorder_writes_reads_as_the_card_did(tmp_path: Path) -> None:
    player = Nvml("switched")
    player.NVMLError = NvmlError
    (tmp_path / "again.json").write_text(json.dumps(record(player)), "utf-8")
    for one, other in zip(nvml.read(Nvml("again", tmp_path)).gpus, nvml.read(Nvml("switched")).gpus, strict=True):
        assert structs.asdict(one) | {"uuid": "", "fabric": None} == structs.asdict(other) | {"uuid": "", "fabric": None}
    machines = [here(nvml=Nvml("again", tmp_path)), at("switched")]
    assert topology.topology(case(machines[0])).data == topology.topology(case(machines[1])).data


@pytest.mark.gpu
def test_a_real_card_is_read() -> None:
    reading = nvml.read()
    if reading.problem:
        pytest.skip(reading.problem)
    assert reading.gpus[0].total
    assert reading.gpus[0].capability is not None
    assert gpu.memory(case(here())).status in {"confirmed", "refuted"}
    assert health.health(case(here())).status in {"confirmed", "refuted"}
    assert topology.topology(case(here())).status in {"confirmed", "refuted", "not-available"}
    assert cuda.runtime(case(here())).status in {"confirmed", "refuted"}
    assert gpu.processes(case(here())).status in {"confirmed", "refuted", "not-available"}


@pytest.mark.gpu
def test_answers_recorded_on_a_real_card_read_as_the_card_does(tmp_path: Path) -> None:
    """What record.py writes is what the other tests are played from."""
    if nvml.read().problem:
        pytest.skip(nvml.read().problem)
    (tmp_path / "now.json").write_text(json.dumps(record()), "utf-8")
    played, real = nvml.read(Nvml("now", tmp_path)), nvml.read()
    assert [(one.name, one.total, one.capability, one.width, one.links, one.fabric) for one in played.gpus] == [
        (one.name, one.total, one.capability, one.width, one.links, one.fabric) for one in real.gpus
    ]
    assert (played.driver, played.cuda) == (real.driver, real.cuda)
