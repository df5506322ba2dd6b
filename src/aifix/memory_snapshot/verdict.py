"""From a snapshot to a verdict, device by device, with the diagnoses that the rule base knows for it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from aifix.conclusion.of_state import from_state
from aifix.memory_snapshot import words
from aifix.memory_snapshot.growth import Growth, growth
from aifix.memory_snapshot.replay import replay
from aifix.memory_snapshot.stacks import KINDS, Frame, Kind
from aifix.memory_snapshot.state import Cut, Pool, cut, pools
from aifix.model import Diagnosis, Evidence, Fact, Location
from aifix.reason.expressions import size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.memory_snapshot.read import Events, Memory
    from aifix.memory_snapshot.replay import OutOfMemory, Replay
    from aifix.memory_snapshot.stacks import Stacks
    from aifix.model import Rule

TOP = 100
"""Stacks that are named of the peak."""
POINTS = 2000
"""Points of the timeline."""
FRAGMENTED = 0.2
"""Share of the reserved memory, free between live blocks, above which fragmentation is told without a failure."""
AFTER = 4
"""Events after a failure up to which the snapshot shows the reserve as it was."""
WORTH = 256 << 20
"""Least bytes of it."""


class Holder(msgspec.Struct, frozen=True):
    """What one stack held at the peak, innermost frame first."""

    bytes: int
    blocks: int
    kind: Kind
    frames: tuple[Frame, ...]


class Failure(msgspec.Struct, frozen=True):
    """A request that failed, and what stood in its way."""

    requested: int
    device_free: int
    held: int
    reserved: int
    fragmented: bool
    """The reserve had room enough, in pieces that were each too small."""
    frames: tuple[Frame, ...]


class Leak(msgspec.Struct, frozen=True):
    """A line that leaves blocks behind in step after step."""

    bytes: int
    blocks: int
    kind: Kind
    frames: tuple[Frame, ...]


class Point(msgspec.Struct, frozen=True):
    """A moment of the timeline: microseconds since the record began, and the most that was held and reserved around it."""

    time: int
    held: int
    reserved: int


class Device(msgspec.Struct, frozen=True):
    """One device. Sizes are bytes."""

    device: int
    events: int
    seconds: float
    now: Cut
    shared: Cut
    """Without private pools: what ordinary allocations can use."""
    pools: tuple[Pool, ...]
    peak: int
    peak_event: int
    peak_time: int
    before: int
    kinds: dict[Kind, int]
    """What stood at the peak, by kind."""
    holders: tuple[Holder, ...]
    failures: tuple[Failure, ...]
    growth: Growth
    leaks: tuple[Leak, ...]
    timeline: tuple[Point, ...]


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What aifix says about a memory snapshot; `aifix.snapshot/1` as JSON."""

    schema: str = "aifix.snapshot/1"
    source: str
    failed: bool
    devices: tuple[Device, ...]
    settings: dict[str, str]
    diagnoses: tuple[Diagnosis, ...]


def judge(memory: Memory, rules: Mapping[str, Rule], *, source: str) -> Snapshot:
    """Look at every device of a snapshot.

    Args:
        memory: the snapshot.
        rules: the base, for explanations and fixes.
        source: the file, for the report.

    """
    numbers = sorted({segment.device for segment in memory.segments} | memory.events.keys())
    devices = tuple(_device(number, memory) for number in numbers)
    diagnoses = tuple(diagnosis for device in devices for diagnosis in _diagnoses(device, memory, rules))
    return Snapshot(
        source=source,
        failed=any(device.failures or device.leaks for device in devices),
        devices=devices,
        settings=memory.settings,
        diagnoses=diagnoses,
    )


def _device(number: int, memory: Memory) -> Device:
    from aifix.memory_snapshot.read import Events

    segments = [segment for segment in memory.segments if segment.device == number]
    events = memory.events.get(number) or Events()
    replayed = replay(events, segments)
    grown = growth(events, replayed, memory.stacks)
    shared = cut([segment for segment in segments if segment.pool == (0, 0)])
    stacks = memory.stacks.all
    kinds: Counter[Kind] = Counter()
    for one in replayed.at_peak:
        kinds[stacks[one.stack].kind] += one.bytes
    _without_stacks(kinds, memory.stacks)
    times = [time for time in (events.times[0], events.times[-1]) if time] if len(events) else []
    return Device(
        device=number,
        events=len(events),
        seconds=(times[-1] - times[0]) / 1e6 if len(times) == 2 else 0.0,
        now=cut(segments),
        shared=shared,
        pools=pools(segments),
        peak=replayed.peak,
        peak_event=replayed.peak_event,
        peak_time=max(0, events.times[replayed.peak_event] - events.times[0]) if replayed.peak_event >= 0 else 0,
        before=replayed.before,
        kinds={kind: kinds[kind] for kind in KINDS if kinds[kind]},
        holders=tuple(Holder(one.bytes, one.blocks, stacks[one.stack].kind, stacks[one.stack].frames) for one in replayed.at_peak[:TOP]),
        failures=tuple(
            Failure(
                one.requested,
                one.device_free,
                one.held,
                one.reserved,
                _fragmented(one, len(events), shared),
                stacks[one.stack].frames,
            )
            for one in replayed.out_of_memory
        ),
        growth=grown,
        leaks=tuple(Leak(one.bytes, one.blocks, stacks[one.stack].kind, stacks[one.stack].frames) for one in grown.growers[:TOP]),
        timeline=_timeline(events, replayed),
    )


def _without_stacks(kinds: Counter[Kind], stacks: Stacks) -> None:
    """Take memory without a Python stack for gradients where the program trains: on a GPU autograd runs the backward pass in a thread of its own."""
    trains = any(stack.kind in {"gradients", "optimizer"} for stack in stacks.all)
    if trains and 0 < kinds["unknown"] < kinds.total():
        kinds["gradients"] += kinds.pop("unknown")


def _fragmented(one: OutOfMemory, events: int, shared: Cut) -> bool:
    """Tell whether the reserve had room enough, in pieces too small; exact where the snapshot was taken at the failure."""
    free = shared.free if one.event >= events - AFTER else one.reserved - one.held
    return free >= one.requested > shared.largest_free


def _timeline(events: Events, replayed: Replay) -> tuple[Point, ...]:
    """Thin the history out: of each stretch its highest moment, so that no peak is lost."""
    total = len(events)
    start = events.times[0] if total else 0
    found = []
    for part in range(min(total, POINTS)):
        low, high = part * total // min(total, POINTS), (part + 1) * total // min(total, POINTS)
        at = max(range(low, high), key=replayed.held.__getitem__)
        found.append(Point(max(0, events.times[at] - start), replayed.held[at], max(replayed.reserved[low:high])))
    return tuple(found)


# ---------------------------------------------------------------- diagnoses


def _diagnoses(device: Device, memory: Memory, rules: Mapping[str, Rule]) -> list[Diagnosis]:
    found = []
    leak = _leak(device, rules)
    for failure in device.failures[-1:]:  # the last one is what ended the run
        rule_id = "cuda.oom-fragmentation" if failure.fragmented else "cuda.oom"
        found.append(
            from_state(
                rules,
                rule_id,
                _failure_facts(failure, device, memory),
                confidence=0.9 if failure.fragmented else 0.85,
                how="memory snapshot: oom event",
                evidence=_evidence(device),
                location=_location(failure.frames),
                told=words.failure(failure, device),
                caused_by="train.memory-growth" if leak is not None and device.growth.bytes > 0.2 * device.peak else None,
            )
        )
    if not device.failures and device.shared.split >= max(WORTH, FRAGMENTED * device.shared.reserved):
        found.append(
            from_state(
                rules,
                "cuda.oom-fragmentation",
                {"unallocated": words.size_fact(device.shared.free), "reserved": words.size_fact(device.shared.reserved)},
                confidence=0.5,
                how="memory snapshot: free memory between live blocks",
                told=words.fragmentation(device.shared),
            )
        )
    ordered = ([leak] if leak is not None else []) + [one for one in found if one is not None]
    return sorted(ordered, key=lambda diagnosis: diagnosis.symptom)


def _failure_facts(failure: Failure, device: Device, memory: Memory) -> dict[str, Fact]:
    facts = {
        "requested": words.size_fact(failure.requested),
        "allocated": words.size_fact(failure.held),
        "reserved": words.size_fact(failure.reserved),
        "unallocated": words.size_fact(max(0, failure.reserved - failure.held)),
        "free": words.size_fact(failure.device_free),
        "gpu": Fact(str(device.device), device.device),
    }
    if memory.settings.get("expandable_segments") == "True":
        facts["expandable"] = Fact("on", 1)
    return facts


def _leak(device: Device, rules: Mapping[str, Rule]) -> Diagnosis | None:
    if not device.leaks:
        return None
    grown = device.growth
    return from_state(
        rules,
        "train.memory-growth",
        {
            "memory": Fact(f"GPU {device.device} memory", "GPU"),
            "growth": words.size_fact(grown.per_step),
            "used": words.size_fact(device.peak),
            "step": Fact(str(grown.steps), grown.steps),
        },
        confidence=0.9 if grown.cause != "no-stack" else 0.7,
        how="memory snapshot: blocks that stay, step after step",
        evidence=tuple(
            Evidence(number, f"{size(leak.bytes)} in {leak.blocks:,} blocks from {words.place(leak.frames)}")
            for number, leak in enumerate(device.leaks[:6], 1)
        ),
        location=_location(device.leaks[0].frames),
        told=words.growth(device),
    )


def _evidence(device: Device) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(number, f"{size(one.bytes)} of {one.kind} in {one.blocks:,} blocks from {words.place(one.frames)}")
        for number, one in enumerate(device.holders[:6], 1)
    )


def _location(frames: tuple[Frame, ...]) -> Location | None:
    frame = next((frame for frame in frames if frame.user), None)
    return Location(frame.file, frame.line, frame.function) if frame is not None else None
