"""gpu.memory and gpu.processes: how much of each card is free, and who holds the rest."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from aifix.probes import nvml
from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear
from aifix.reason.expressions import size

if TYPE_CHECKING:
    from aifix.probes.machine import Machine
    from aifix.probes.nvml import Gpu, Holder

FULL = 0.8
"""Used share from which a card counts as short of memory."""
UNSEEN = 512 << 20
"""Bytes in use that no process we see accounts for, from which other containers or leftovers are suspected."""


def memory(case: Case) -> Finding:
    """Look at the memory of the card in question, or of all."""
    reading = nvml.of(case.machine)
    if reading.problem:
        return absent(reading.problem)
    cards = [gpu for gpu in reading.gpus if gpu.total]
    if not cards:
        return absent("NVML names no GPU with memory of its own")
    evidence = [f"GPU {gpu.index} {gpu.name}: {size(gpu.free or 0)} of {size(gpu.total or 0)} free" for gpu in cards]
    shares = {gpu.index: round(1 - (gpu.free or 0) / (gpu.total or 1), 3) for gpu in cards}
    card = _in_question(case, cards)
    if card is None:
        fullest = max(cards, key=lambda gpu: shares[gpu.index])
        least = min(gpu.free or 0 for gpu in cards)
        data: dict[str, Any] = {"gpus": [_figures(gpu) for gpu in cards], "free": least, "used_share": shares[fullest.index]}
        if shares[fullest.index] >= FULL:
            return confirmed(f"GPU {fullest.index} is {shares[fullest.index]:.0%} full: {size(fullest.free or 0)} are free", data, evidence)
        return refuted(f"every GPU has at least {size(least)} free", data, evidence)
    data = _figures(card) | {"used_share": shares[card.index]}
    free = card.free or 0
    others = [line for line in evidence if not line.startswith(f"GPU {card.index} ")]
    wanted = case.number("requested")
    figure = f"GPU {card.index} has {size(free)} of {size(card.total or 0)} free now"
    capacity = case.number("capacity", "total")
    if capacity and card.total and not 0.8 < capacity / card.total < 1.25:
        return unclear(f"the failed run's card had {size(capacity)}; {figure}, so this is another card", data, others)
    if wanted and wanted > (card.total or 0):
        return confirmed(f"{size(wanted)} are more than the whole card: {figure}", data, others)
    if shares[card.index] >= FULL:
        return confirmed(f"with the run gone, {figure}: others hold {size(card.used or 0)}", data, others)
    if case.about("cuda.oom-other-process"):
        return refuted(f"{figure}: no other process holds much of it", data, others)
    if case.about("cuda.oom", "cuda.oom-fragmentation", "cuda.oom-limit"):
        # With the run gone its memory is free again: the card alone, not others, was too small for it.
        return unclear(f"with the run gone, {figure}: it was the run itself that filled it", data, others)
    return refuted(figure, data, others)


def _in_question(case: Case, cards: list[Gpu]) -> Gpu | None:
    """Choose the card that a log speaks of: its number counts the visible devices."""
    if not case.suspicion:
        return None
    number = case.number("gpu", "device", "index", "device_index")
    visible = case.machine.environ.get("CUDA_VISIBLE_DEVICES", "")
    order = [part.strip() for part in visible.split(",") if part.strip()]
    wanted = number or 0
    if order and wanted < len(order):
        name = order[wanted]
        return next((gpu for gpu in cards if str(gpu.index) == name or gpu.uuid.startswith(name)), None)
    return next((gpu for gpu in cards if gpu.index == wanted), cards[0] if number is None else None)


def processes(case: Case) -> Finding:
    """Look at who holds GPU memory."""
    machine = case.machine
    reading = nvml.of(machine)
    if reading.problem:
        return absent(reading.problem)
    cards = [gpu for gpu in reading.gpus if gpu.holders is not None]
    if not cards:
        return absent("the driver does not list the GPUs' processes here")
    card = _in_question(case, cards)
    listed, evidence, left = [], [], []
    unseen = 0
    for gpu in [card] if card is not None else cards:
        for holder in gpu.holders or ():
            item = _describe(machine, gpu, holder)
            listed.append(item)
            evidence.append(f"GPU {gpu.index}: process {holder.pid} holds {_size(holder.used)}: {item['process'] or 'not visible from here'}")
            if item["left_over"]:
                left.append(item)
        known = sum(holder.used or 0 for holder in gpu.holders or ())
        if gpu.used is not None and gpu.used - known > UNSEEN + (gpu.total or 0) // 100:
            unseen += gpu.used - known
            evidence.append(
                f"GPU {gpu.index}: {size(gpu.used - known)} are in use by nobody visible from here (another container, or a dying process)"
            )
    data: dict[str, Any] = {"processes": listed, "unseen": unseen, "count": len(listed)}
    own = case.machine.target.pid
    foreign = [item for item in listed if item["pid"] not in {own, os.getpid()}]
    if left:
        return confirmed(f"process {left[0]['pid']} seems left over from an earlier run and holds {_size(left[0]['used'])}", data, evidence)
    named = next((item for item in foreign if item["pid"] == case.number("other_pid", "pid")), None)
    if named is not None:
        return confirmed(f"process {named['pid']} of the log still holds {_size(named['used'])}: {named['process'] or 'not visible'}", data, evidence)
    if case.suspicion and foreign:
        held = sum(item["used"] or 0 for item in foreign)
        first = foreign[0]
        others = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        return confirmed(
            f"{first['process'] or 'a process'} ({first['pid']}){others} hold{'' if others else 's'} {_size(held or None)} now", data, evidence
        )
    if unseen:
        return confirmed(f"{size(unseen)} are in use by nobody visible from here", data, evidence)
    if not listed:
        return refuted("no process holds GPU memory now", data)
    return refuted(f"{len(listed)} process{'es hold' if len(listed) > 1 else ' holds'} GPU memory, none of them left over", data, evidence)


def _describe(machine: Machine, gpu: Gpu, holder: Holder) -> dict[str, Any]:
    fields = machine.read(f"/proc/{holder.pid}/stat").rpartition(")")[2].split()
    name = machine.process(holder.pid)
    state = fields[0] if fields else ""
    orphan = len(fields) > 1 and fields[1] == "1" and "python" in name
    return {
        "gpu": gpu.index,
        "pid": holder.pid,
        "used": holder.used,
        "kind": holder.kind,
        "process": name,
        "state": state,
        "left_over": state in {"Z", "X"} or orphan,
    }


def _figures(gpu: Gpu) -> dict[str, Any]:
    return {"gpu": gpu.index, "name": gpu.name, "total": gpu.total, "used": gpu.used, "free": gpu.free}


def _size(used: int | None) -> str:
    return size(used) if used is not None else "an unknown amount"
