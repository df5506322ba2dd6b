"""gpu.health: ECC, row remapping, Xid lines of the kernel log, throttling, PCIe link, NVLink, fabric manager, modes."""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING, Any

from aifix.probes import cuda, nvml
from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear

if TYPE_CHECKING:
    from aifix.probes.machine import Machine
    from aifix.probes.nvml import Gpu

THROTTLE = {
    0x4: "the power cap",
    0x8: "hardware slowdown (heat or power brake)",
    0x20: "heat (software)",
    0x40: "heat (hardware)",
    0x80: "the power brake",
}
"""Reasons for lower clocks that are no idling and no setting."""
MODES = {0: "default", 1: "exclusive thread", 2: "prohibited", 3: "exclusive process"}
HARMLESS_XID = {"13", "31", "43", "45"}
"""Xids that programs usually cause: they say nothing about the card's health."""
_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([\w:.]+)\): (\d+)[, ]*(.*)")
FABRIC_NOT_STARTED, FABRIC_IN_PROGRESS, FABRIC_COMPLETED = 1, 2, 3
"""nvmlGpuFabricState_t; 0 is a card without a fabric."""
KERNEL_LOGS = ("/var/log/kern.log", "/var/log/messages", "/var/log/dmesg")
JOURNALS = ("/var/log/journal", "/run/log/journal")
JOURNAL_TAIL = 16 << 20
_JOURNALED = re.compile(rb"MESSAGE=(NVRM: Xid [\x20-\x7e]{1,400})")
TAIL = 1 << 20
"""Bytes of a kernel log's end that are read."""


def health(case: Case) -> Finding:
    """Look at the health of all cards."""
    machine = case.machine
    reading = nvml.of(machine)
    xids = machine.once("xids", lambda: kernel_xids(machine))
    if reading.problem and not xids:
        return absent(reading.problem)
    problems: list[str] = []
    notes: list[str] = []
    for gpu in reading.gpus:
        bad, remarks = judge(gpu, case)
        problems += bad
        notes += remarks
    if cuda.fabric_manager_missing(machine, reading):
        problems.append(cuda.NO_FABRIC_MANAGER)
    serious = [xid for xid in xids if xid["xid"] not in HARMLESS_XID]
    table = machine.catalogues().get("xid", {})
    for xid in xids[-8:]:
        meaning = table.get(xid["xid"], {}).get("meaning", "")
        notes.append(f"kernel log: Xid {xid['xid']} on {xid['device']}" + (f" ({meaning})" if meaning else "") + f" {xid['text']}".rstrip())
    if serious:
        last = serious[-1]
        problems.append(f"the kernel log has Xid {last['xid']} of {last['device']}" + (f", {len(serious)} such lines" if len(serious) > 1 else ""))
    data: dict[str, Any] = {"gpus": [_figures(gpu) for gpu in reading.gpus], "xids": xids[-20:]}
    evidence = [*problems[1:], *notes]
    if problems:
        return confirmed(problems[0], data, evidence)
    summary = f"{len(reading.gpus)} GPU{'' if len(reading.gpus) == 1 else 's'}: no memory error, no Xid, no throttling that is visible here"
    if case.suspicion and any(gpu.ecc_volatile is None for gpu in reading.gpus):
        return unclear(f"{summary} (the card counts no ECC errors)", data, evidence)
    return refuted(summary, data, evidence)


def judge(gpu: Gpu, case: Case) -> tuple[list[str], list[str]]:
    """Give what is wrong with a card, and what is merely worth knowing."""
    name = f"GPU {gpu.index}"
    if gpu.lost:
        return [f"{name} is lost to the driver: {gpu.lost}"], []
    bad: list[str] = []
    notes: list[str] = []
    if gpu.ecc_volatile:
        bad.append(f"{name} has {gpu.ecc_volatile} uncorrectable memory errors since the driver was loaded")
    elif gpu.ecc_aggregate:
        notes.append(f"{name} has had {gpu.ecc_aggregate} uncorrectable memory errors in its life, none since the driver was loaded")
    if gpu.remapped is not None:
        _, uncorrectable, pending, failed = gpu.remapped
        if failed:
            bad.append(f"{name} could not remap a broken memory row: the card needs to be replaced")
        if pending:
            bad.append(f"{name} waits for a reset to remap a broken memory row")
        if uncorrectable:
            notes.append(f"{name} has remapped {uncorrectable} rows after uncorrectable errors")
    reasons = [text for bit, text in THROTTLE.items() if (gpu.throttle or 0) & bit]
    serious = [text for text in reasons if text != "the power cap"]
    if serious:
        bad.append(f"{name} is slowed by {', '.join(serious)}" + (f" at {gpu.temperature} °C" if gpu.temperature is not None else ""))
    elif reasons:
        notes.append(f"{name} is held by {reasons[0]}, which is usual under load")
    if gpu.temperature is not None and gpu.slowdown and gpu.temperature >= gpu.slowdown - 3:
        bad.append(f"{name} is at {gpu.temperature} °C, and slows down from {gpu.slowdown} °C")
    if gpu.retired:
        notes.append(f"{name} has retired {gpu.retired} memory pages: beyond 60 the card is to be replaced")
    if gpu.generation is not None and gpu.generation[0] < gpu.generation[1] and (gpu.busy or 0) > 0:
        # idle cards lower their link to save power, and some boards never reach the card's best: a note, no fault
        notes.append(f"{name} runs on PCIe generation {gpu.generation[0]} and could do {gpu.generation[1]}")
    if gpu.width is not None and gpu.width[0] < gpu.width[1] and (gpu.busy or 0) > 0:
        bad.append(f"{name} runs on {gpu.width[0]} of {gpu.width[1]} PCIe lanes")
    elif gpu.width is not None and gpu.width[0] < gpu.width[1]:
        notes.append(f"{name} idles on {gpu.width[0]} of {gpu.width[1]} PCIe lanes")
    if gpu.links is not None and 0 < gpu.links[0] < gpu.links[1]:
        text = f"{name} has {gpu.links[0]} of {gpu.links[1]} NVLinks up"
        (bad if case.about("gpu.nvlink", "gpu.nvswitch") else notes).append(text)
    registration = _fabric(gpu)
    if registration:
        bad.append(f"{name} {registration}")
    if gpu.compute_mode == 2:
        bad.append(f"{name} is in compute mode 'prohibited': no program may use it")
    elif gpu.compute_mode in {1, 3}:
        text = f"{name} is in compute mode '{MODES[gpu.compute_mode]}': one process at a time may use it"
        (bad if case.about("cuda.busy") else notes).append(text)
    if gpu.persistence is False:
        notes.append(f"{name} has persistence mode off: the first CUDA call of each run takes longer")
    return bad, notes


def _fabric(gpu: Gpu) -> str:
    """Say what is wrong with the registration with the fabric manager, without which cards behind NVSwitches run no CUDA (error 802)."""
    if gpu.fabric is None:
        return ""
    state, status = gpu.fabric
    if state == FABRIC_NOT_STARTED:
        return "is not registered with the fabric manager: CUDA does not start on it (is nvidia-fabricmanager running?)"
    if state == FABRIC_IN_PROGRESS:
        return "is still being registered with the fabric manager: CUDA does not start on it yet"
    if state == FABRIC_COMPLETED and status:
        return f"was refused by the fabric manager (NVML status {status})"
    return ""


def kernel_xids(machine: Machine) -> list[dict[str, str]]:
    """Read Xid lines where the kernel's log may be read: /dev/kmsg, a log file's end, or the journal's."""
    text = _kmsg(machine) or "".join(_tail(str(machine.path(path))) for path in KERNEL_LOGS) or _journal(machine)
    return [{"device": found[1], "xid": found[2], "text": found[3][:160]} for found in _XID.finditer(text)]


def _kmsg(machine: Machine) -> str:
    try:
        descriptor = os.open(machine.path("/dev/kmsg"), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return ""
    found: list[bytes] = []
    with contextlib.suppress(OSError):  # no more records, or not for us
        while len(found) < 20000:
            found.append(os.read(descriptor, 8192))
    os.close(descriptor)
    return b"\n".join(line for line in found if b"NVRM" in line).decode("utf-8", "replace")


def _journal(machine: Machine) -> str:
    """Take Xid lines out of the systemd journal's files: short messages stand in them as they are, so no journalctl is run."""
    found: list[bytes] = []
    for top in JOURNALS:
        for name in machine.names(top)[:4]:
            path = machine.path(f"{top}/{name}/system.journal")
            with contextlib.suppress(OSError, ValueError), open(path, "rb") as stream:
                stream.seek(max(0, os.fstat(stream.fileno()).st_size - JOURNAL_TAIL))
                found += _JOURNALED.findall(stream.read(JOURNAL_TAIL))
    return "\n".join(line.decode("utf-8", "replace") for line in found)


def _tail(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - TAIL))
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _figures(gpu: Gpu) -> dict[str, Any]:
    return {
        "gpu": gpu.index,
        "name": gpu.name,
        "lost": bool(gpu.lost),
        "ecc_uncorrectable": gpu.ecc_volatile,
        "row_remap_pending": gpu.remapped[2] if gpu.remapped else None,
        "row_remap_failed": gpu.remapped[3] if gpu.remapped else None,
        "temperature": gpu.temperature,
        "pcie_generation": gpu.generation[0] if gpu.generation else None,
        "pcie_generation_max": gpu.generation[1] if gpu.generation else None,
        "retired_pages": gpu.retired,
        "fabric_state": gpu.fabric[0] if gpu.fabric else None,
        "pcie_width": gpu.width[0] if gpu.width else None,
        "pcie_width_max": gpu.width[1] if gpu.width else None,
        "compute_mode": MODES.get(gpu.compute_mode) if gpu.compute_mode is not None else None,
        "persistence": gpu.persistence,
        "nvlinks": list(gpu.links) if gpu.links else None,
    }
