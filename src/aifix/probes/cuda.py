"""cuda.runtime: the driver, its CUDA version, the kernel module against the library, the devices, and who may see them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aifix.probes import nvml, packages
from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear

if TYPE_CHECKING:
    from aifix.probes.machine import Machine
    from aifix.probes.nvml import Reading

NVIDIA = "0x10de"
SWITCHED = ("NVIDIA H", "NVIDIA B", "NVIDIA A100-SXM", "NVIDIA GB")
"""Cards that are sold on boards with NVSwitches."""
NO_FABRIC_MANAGER = "NVSwitches are in this machine, and the fabric manager does not run (systemctl start nvidia-fabricmanager)"
_MODULE = re.compile(r"NVRM version:.*?(\d+\.\d+(?:\.\d+)?)")


def runtime(case: Case) -> Finding:
    """Look at the driver and its devices."""
    machine = case.machine
    reading = nvml.of(machine)
    module = kernel_module(machine)
    cards = pci_cards(machine)
    visible = machine.environ.get("CUDA_VISIBLE_DEVICES")
    data: dict[str, Any] = {
        "driver": reading.driver or module,
        "cuda": reading.cuda,
        "kernel_module": module,
        "gpus": len(reading.gpus),
        "names": [gpu.name for gpu in reading.gpus],
        "pci_cards": cards,
        "visible": visible,
        "container": container(machine),
        "container_toolkit": container_toolkit(machine),
    }
    evidence = _evidence(data, reading)
    wrong = _wrong(case, reading, data, machine)
    if wrong:
        return confirmed(wrong, data, evidence)
    if reading.problem:
        return absent(reading.problem, data)
    if case.about("cuda.driver-too-old"):
        return _old(case, data, evidence)
    if case.about("cuda.invalid-device-ordinal"):
        number = case.number("requested", "gpu", "device", "index", "ordinal")
        count = data["visible_count"]
        if number is not None and number < count:
            return refuted(f"device {number} exists: {count} are visible", data, evidence)
    names = ", ".join(sorted(set(data["names"])))
    summary = f"driver {reading.driver} (CUDA {reading.cuda}) with {len(reading.gpus)} device{'s' if len(reading.gpus) != 1 else ''}: {names}"
    return refuted(summary, data, evidence)


def _wrong(case: Case, reading: Reading, data: dict[str, Any], machine: Machine) -> str:
    """Say what is wrong with the driver or what may be seen of it; '' when nothing is."""
    data["visible_count"] = _count_visible(data["visible"], reading)
    if reading.kind == "mismatch":
        return f"{reading.problem} (the kernel module is {data['kernel_module'] or 'unknown'})"
    if reading.kind == "permission":
        return reading.problem
    if reading.problem:
        if data["pci_cards"]:
            return f"{data['pci_cards']} NVIDIA card{'s are' if data['pci_cards'] > 1 else ' is'} in this machine, and {reading.problem}"
        if case.about("cuda.no-driver", "cuda.no-device", "cuda.init-error", "cuda.deserialize-no-cuda"):
            where = f" (in a {data['container']} container)" if data["container"] else ""
            return f"{reading.problem}{where}"
        return ""
    if not reading.gpus:
        return "the driver runs and has no device"
    lost = [gpu.index for gpu in reading.gpus if gpu.lost]
    if lost:
        return f"GPU {lost[0]} is lost to the driver"
    if data["visible"] is not None and data["visible_count"] == 0:
        return f"CUDA_VISIBLE_DEVICES={data['visible']!r} hides all {len(reading.gpus)} devices"
    unknown = _unknown_devices(data["visible"], reading)
    if unknown:
        return f"CUDA_VISIBLE_DEVICES={data['visible']} names {unknown}, which does not exist: it and all after it are hidden"
    number = case.number("requested", "gpu", "device", "index", "ordinal", "local_rank")
    if case.about("cuda.invalid-device-ordinal") and number is not None and number >= data["visible_count"]:
        return f"device {number} was asked for, and {data['visible_count']} are visible"
    if fabric_manager_missing(machine, reading):
        return NO_FABRIC_MANAGER
    return ""


def fabric_manager_missing(machine: Machine, reading: Reading) -> bool:
    """Tell whether NVSwitches are here and nobody manages them; in a container the host's processes are not to be seen."""
    return machine.once("fabric manager", lambda: _unmanaged(machine, reading))


def _unmanaged(machine: Machine, reading: Reading) -> bool:
    if container(machine) or not any(gpu.name.startswith(SWITCHED) for gpu in reading.gpus) or not _switches(machine):
        return False
    pids = [name for name in machine.names("/proc") if name.isdigit()]
    return not any(machine.read(f"/proc/{pid}/comm", 32).startswith("nv-fabricmanage") for pid in pids)


def _old(case: Case, data: dict[str, Any], evidence: list[str]) -> Finding:
    """Compare the driver's CUDA with the one that torch was built for."""
    from aifix.probes.torch_build import of

    build = of(case.machine)
    if not build or not build.cuda or not data["cuda"]:
        return unclear(f"the driver runs CUDA up to {data['cuda']}; which one torch wants is not known here", data, evidence)
    if packages.numbers(data["cuda"])[:1] < packages.numbers(build.cuda)[:1]:  # within one major version an older driver will do
        return confirmed(
            f"the driver {data['driver']} runs CUDA up to {data['cuda']}, and torch {build.version} was built for {build.cuda}", data, evidence
        )
    return refuted(f"the driver {data['driver']} runs CUDA {data['cuda']}, enough for torch's {build.cuda}", data, evidence)


def _evidence(data: dict[str, Any], reading: Reading) -> list[str]:
    found = []
    if data["kernel_module"]:
        found.append(f"kernel module {data['kernel_module']}")
    if data["visible"] is not None:
        found.append(f"CUDA_VISIBLE_DEVICES={data['visible']}")
    if data["container"]:
        found.append(f"inside a {data['container']} container")
    elif data["container_toolkit"]:
        found.append(f"for containers: {', '.join(data['container_toolkit'])}")
    else:
        found.append("no NVIDIA container toolkit is here: containers of this machine see no GPU")
    found += [f"GPU {gpu.index}: {gpu.name}, capability {'.'.join(map(str, gpu.capability))}" for gpu in reading.gpus if gpu.capability]
    return found


def _count_visible(visible: str | None, reading: Reading) -> int:
    """Count the devices that CUDA shows: the list ends at the first one that does not exist."""
    if visible is None:
        return len(reading.gpus)
    count = 0
    for part in visible.split(","):
        name = part.strip()
        if not _exists(name, reading):
            break
        count += 1
    return count


def _exists(name: str, reading: Reading) -> bool:
    if name.isdigit():
        return int(name) < len(reading.gpus)
    return name.startswith("MIG-") or any(name and gpu.uuid.startswith(name) for gpu in reading.gpus)


def _unknown_devices(visible: str | None, reading: Reading) -> str:
    parts = [part.strip() for part in (visible or "").split(",") if part.strip()]
    return next((part for part in parts if not _exists(part, reading)), "") if reading.gpus else ""


def kernel_module(machine: Machine) -> str:
    """Give the version of the loaded NVIDIA kernel module; '' when there is none."""
    found = _MODULE.search(machine.read("/proc/driver/nvidia/version"))
    return found[1] if found else machine.read("/sys/module/nvidia/version", 64).strip()


def pci_cards(machine: Machine) -> int:
    """Count the NVIDIA display devices on the PCI bus, whether or not a driver runs them."""
    count = 0
    for name in machine.names("/sys/bus/pci/devices"):
        folder = f"/sys/bus/pci/devices/{name}"
        if machine.read(f"{folder}/vendor", 16).strip() == NVIDIA and machine.read(f"{folder}/class", 16).startswith(("0x0300", "0x0302")):
            count += 1
    return count


def _switches(machine: Machine) -> bool:
    folder = "/sys/bus/pci/devices"
    return any(
        machine.read(f"{folder}/{name}/vendor", 16).strip() == NVIDIA and machine.read(f"{folder}/{name}/class", 16).startswith("0x0680")
        for name in machine.names(folder)
    )


def container_toolkit(machine: Machine) -> list[str]:
    """Name what lets containers of this machine see its GPUs: the toolkit's programs, Docker's runtime, devices described for CDI."""
    found = [name for name in ("nvidia-ctk", "nvidia-container-cli", "nvidia-container-runtime") if machine.exists(f"/usr/bin/{name}")]
    if "nvidia" in machine.read("/etc/docker/daemon.json"):
        found.append("Docker's runtime nvidia")
    found += [f"CDI {folder}/{name}" for folder in ("/etc/cdi", "/var/run/cdi") for name in machine.names(folder) if "nvidia" in name]
    return found


def container(machine: Machine) -> str:
    """Name the kind of container that we are in; '' when there is no sign of one."""
    environ = machine.environ
    if environ.get("KUBERNETES_SERVICE_HOST") or machine.exists("/var/run/secrets/kubernetes.io"):
        return "Kubernetes"
    if machine.exists("/.dockerenv"):
        return "Docker"
    if machine.exists("/run/.containerenv"):
        return "Podman"
    if environ.get("APPTAINER_CONTAINER") or environ.get("SINGULARITY_CONTAINER") or machine.exists("/.singularity.d"):
        return "Apptainer"
    return environ.get("container", "")
