"""dist.topology: how the GPUs are joined to each other and to the network cards, as `nvidia-smi topo -m` shows it; without running that."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import msgspec

from aifix.probes import nvml
from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.probes.machine import Machine
    from aifix.probes.nvml import Gpu

LEVELS = {0: "X", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
"""nvmlGpuTopologyLevel_t in the words of nvidia-smi."""
WORDS = {
    "X": "are on one board",
    "PIX": "share one PCIe bridge",
    "PXB": "are joined by several PCIe bridges",
    "PHB": "are joined by the CPU's PCIe host bridge",
    "NODE": "are joined by the PCIe host bridges of one NUMA node",
    "SYS": "are joined by the link between the CPU sockets",
}
STATUS = {
    1: "the chipset does not support it",
    2: "the GPUs do not support it",
    3: "the PCIe topology does not support it",
    4: "a driver setting disables it",
    5: "it is not supported",
}
"""nvmlGpuP2PStatus_t, where it is not OK (0) or unknown (6)."""
READ, WRITE = 0, 1
GPU, SWITCH = 0, 2
"""nvmlIntNvLinkDeviceType_t."""
MOST = 16
"""GPUs that are paired: the calls grow with the square."""


class Pair(msgspec.Struct, frozen=True):
    """How two GPUs are joined; None wherever the driver does not say."""

    one: int
    other: int
    level: str = ""
    links: int = 0
    """NVLinks between them; through NVSwitches all that both have up."""
    peer: int | None = None
    """nvmlGpuP2PStatus_t, the worse of reading and writing."""

    @property
    def way(self) -> str:
        """Name the way as nvidia-smi does."""
        return f"NV{self.links}" if self.links else self.level or "?"


class Joined(msgspec.Struct, frozen=True):
    """What joins the GPUs of a machine."""

    pairs: tuple[Pair, ...] = ()
    errors: dict[int, int] = {}
    """Replays and recoveries of the NVLinks, by GPU."""
    switched: bool = False


def topology(case: Case) -> Finding:
    """Look at what joins the GPUs."""
    machine = case.machine
    reading = nvml.of(machine)
    if reading.problem:
        return absent(reading.problem)
    gpus = [gpu for gpu in reading.gpus if not gpu.lost][:MOST]
    if len(gpus) < 2:
        return absent(f"{len(gpus)} GPU is here: there is nothing to join" if gpus else "the driver has no GPU")
    joined = machine.once("topology", lambda: read(machine.nvml, gpus))
    cards = network_cards(machine, gpus)
    data: dict[str, Any] = {
        "matrix": [
            {"gpus": [pair.one, pair.other], "way": pair.way, "level": pair.level, "nvlinks": pair.links, "p2p": pair.peer} for pair in joined.pairs
        ],
        "network": cards,
        "nvswitch": joined.switched,
        "numa": {str(gpu.index): numa_node(machine, gpu.bus) for gpu in gpus},
    }
    evidence = [*table(gpus, joined.pairs, cards), *_remarks(gpus, joined)]
    problems = _problems(gpus, joined, machine)
    if problems:
        return confirmed(problems[0], data, [*problems[1:], *evidence])
    summary = _summary(gpus, joined)
    apart = [pair for pair in joined.pairs if not pair.links and pair.peer in STATUS]
    if apart and case.suspicion:
        return unclear(
            f"{summary}; GPU {apart[0].one} and {apart[0].other} cannot reach each other's memory: {STATUS[apart[0].peer or 5]}", data, evidence
        )
    return unclear(summary, data, evidence) if case.suspicion else refuted(summary, data, evidence)


def read(module: Any, gpus: Sequence[Gpu]) -> Joined:
    """Ask NVML about every pair of GPUs.

    Args:
        module: `pynvml`, or what answers like it; None imports it.
        gpus: the cards, as `nvml.read` gives them.

    """
    started = nvml.start(module)
    if isinstance(started, nvml.Reading):
        return Joined()
    module, ask = started, nvml.ask
    try:
        handles = {gpu.index: ask(module.nvmlDeviceGetHandleByIndex, gpu.index) for gpu in gpus}
        ends = {gpu.index: _ends(module, handles[gpu.index], gpu) for gpu in gpus}
        by_bus = {gpu.bus: gpu.index for gpu in gpus if gpu.bus}
        pairs = []
        for place, one in enumerate(gpus):
            for other in gpus[place + 1 :]:
                first, second = handles[one.index], handles[other.index]
                level = ask(module.nvmlDeviceGetTopologyCommonAncestor, first, second)
                status = [ask(module.nvmlDeviceGetP2PStatus, first, second, index) for index in (READ, WRITE)]
                known = [item for item in status if item is not None]
                direct = sum(by_bus.get(bus) == other.index for kind, bus in ends[one.index] if kind == GPU)
                switched = min(sum(kind == SWITCH for kind, _ in ends[index]) for index in (one.index, other.index))
                pairs.append(Pair(one.index, other.index, LEVELS.get(level, ""), direct or switched, max(known) if known else None))
        errors = {gpu.index: _errors(module, handles[gpu.index], gpu) for gpu in gpus}
        return Joined(
            tuple(pairs),
            {index: count for index, count in errors.items() if count},
            any(kind == SWITCH for found in ends.values() for kind, _ in found),
        )
    finally:
        ask(module.nvmlShutdown)


def _ends(module: Any, handle: Any, gpu: Gpu) -> list[tuple[int | None, str]]:
    """Give what lies at the other end of each NVLink that is up: its kind, and its PCI address."""
    found: list[tuple[int | None, str]] = []
    for link in range(gpu.links[1] if gpu.links else 0):
        if nvml.ask(module.nvmlDeviceGetNvLinkState, handle, link):
            kind = nvml.ask(module.nvmlDeviceGetNvLinkRemoteDeviceType, handle, link)
            bus = nvml.bus_of(nvml.ask(module.nvmlDeviceGetNvLinkRemotePciInfo, handle, link))
            found.append((GPU if kind is None and bus else kind, bus))
    return found


def _errors(module: Any, handle: Any, gpu: Gpu) -> int:
    """Count the replays and recoveries of a card's NVLinks: counters 0 and 1 of nvmlNvLinkErrorCounter_t."""
    call = getattr(module, "nvmlDeviceGetNvLinkErrorCounter", None)
    if call is None:
        return 0
    return sum(
        count for link in range(gpu.links[1] if gpu.links else 0) for kind in (0, 1) if isinstance(count := nvml.ask(call, handle, link, kind), int)
    )


def _problems(gpus: Sequence[Gpu], joined: Joined, machine: Machine) -> list[str]:
    found = []
    down = [gpu for gpu in gpus if gpu.links is not None and 0 < gpu.links[0] < max(one.links[0] for one in gpus if one.links)]
    found += [f"GPU {gpu.index} has {gpu.links[0]} NVLinks up, fewer than the others" for gpu in down if gpu.links]
    found += [
        f"GPU {pair.one} and {pair.other} are joined by NVLink and cannot reach each other's memory: {STATUS[pair.peer or 5]}"
        for pair in joined.pairs
        if pair.links and pair.peer in STATUS
    ]
    started = machine.read("/proc/cmdline", 4096)
    over_pcie = any(not pair.links and pair.peer == 0 for pair in joined.pairs)
    if over_pcie and re.search(r"\b(?:amd|intel)_iommu=on\b", started) and "iommu=pt" not in started:
        found.append(
            "the kernel was started with an IOMMU that is not in pass-through mode (iommu=pt): peer-to-peer copies over PCIe may hang or be slow"
        )
    return found


def _remarks(gpus: Sequence[Gpu], joined: Joined) -> list[str]:
    found = [f"GPU {index}: {count} replays and recoveries on its NVLinks since the driver was loaded" for index, count in joined.errors.items()]
    names = sorted({gpu.name for gpu in gpus})
    if len(names) > 1:
        found.append(f"the cards differ: {', '.join(names)}")
    return found


def _summary(gpus: Sequence[Gpu], joined: Joined) -> str:
    ways = sorted({pair.way for pair in joined.pairs})
    linked = sum(bool(pair.links) for pair in joined.pairs)
    if linked == len(joined.pairs) and joined.pairs:
        return f"{len(gpus)} GPUs, every pair joined by NVLink{' through NVSwitches' if joined.switched else ''} ({', '.join(ways)})"
    if len(ways) == 1 and ways[0] in WORDS:
        return f"{len(gpus)} GPUs {WORDS[ways[0]]} ({ways[0]}), without NVLink"
    return f"{len(gpus)} GPUs, joined by {', '.join(ways)}; {linked} of {len(joined.pairs)} pairs have NVLink"


def table(gpus: Sequence[Gpu], pairs: Sequence[Pair], cards: dict[str, dict[str, str]]) -> list[str]:
    """Draw the matrix."""
    ways = {(pair.one, pair.other): pair.way for pair in pairs}
    names = [f"GPU{gpu.index}" for gpu in gpus]
    lines = ["     " + "".join(f"{name:>7}" for name in [*names, *cards])]
    for gpu in gpus:
        row = ["X" if gpu is other else ways.get((min(gpu.index, other.index), max(gpu.index, other.index)), "?") for other in gpus]
        row += [found.get(str(gpu.index), "?") for found in cards.values()]
        lines.append(f"GPU{gpu.index:<2}" + "".join(f"{cell:>7}" for cell in row))
    return lines


def network_cards(machine: Machine, gpus: Sequence[Gpu]) -> dict[str, dict[str, str]]:
    """Tell how near each InfiniBand or RoCE card is to each GPU, by their places in the PCI tree of /sys."""
    found = {}
    for name in machine.names("/sys/class/infiniband")[:MOST]:
        place = _place(machine, f"/sys/class/infiniband/{name}/device")
        if place:
            found[name] = {str(gpu.index): _nearness(machine, place, gpu) for gpu in gpus if gpu.bus}
    return found


def _place(machine: Machine, path: str) -> str:
    link = machine.path(path)
    return os.path.realpath(link) if os.path.exists(link) else ""


def _nearness(machine: Machine, place: str, gpu: Gpu) -> str:
    """Compare two places in the PCI tree: /sys/devices/pci0000:00/<bridge>/<bridge>/<device>."""
    mine = _place(machine, f"/sys/bus/pci/devices/{gpu.bus}")
    if not mine:
        return "?"
    here, there = mine.split(os.sep), place.split(os.sep)
    common = 0
    for one, other in zip(here, there, strict=False):
        if one != other:
            break
        common += 1
    root = next((at for at, part in enumerate(here) if part.startswith("pci")), None)
    if root is None:
        return "?"
    if common > root + 1:  # a bridge below the root in common
        return "PIX" if max(len(here), len(there)) - common <= 2 else "PXB"
    if common == root + 1:
        return "PHB"
    nodes = (numa_node(machine, gpu.bus), numa_node(machine, os.path.basename(place)))
    return "NODE" if nodes[0] is not None and nodes[0] == nodes[1] else "SYS"


def numa_node(machine: Machine, bus: str) -> int | None:
    """Give the NUMA node of a PCI device; None where there is but one, or the kernel does not say."""
    node = machine.number(f"/sys/bus/pci/devices/{bus}/numa_node") if bus else None
    return node if node is not None and node >= 0 else None
