"""Replay what the allocator did: how much was held when, what stood at the peak, and what never came down."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from aifix.memory_snapshot.read import ALLOC, FREE_COMPLETED, FREE_REQUESTED, OOM, SEGMENT_ALLOC, SEGMENT_FREE, SEGMENT_MAP, SEGMENT_UNMAP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.memory_snapshot.read import Events, Segment


class Held(msgspec.Struct, frozen=True):
    """What one stack held: bytes and blocks."""

    stack: int
    bytes: int
    blocks: int


class OutOfMemory(msgspec.Struct, frozen=True):
    """A request that failed."""

    event: int
    requested: int
    device_free: int
    held: int
    reserved: int
    stack: int


class Replay(msgspec.Struct, frozen=True):
    """One device's history. Arrays have a value an event: bytes held by tensors, bytes reserved from the card, both after it."""

    held: array[int]
    reserved: array[int]
    peak: int
    peak_event: int
    """Index of the event after which it stood; -1 where nothing was recorded: the peak is what stood at the end."""
    at_peak: tuple[Held, ...]
    before: int
    """Bytes that were held before the record began, as far as it can be told."""
    out_of_memory: tuple[OutOfMemory, ...]
    survivors: dict[int, list[int]]
    """Allocations that were recorded and never freed: the events' indices by stack."""


def replay(events: Events, segments: Sequence[Segment]) -> Replay:
    """Replay a device's events up to the state that its segments show.

    The record is a ring: what was allocated before it began is known by the blocks that are still there, and by what was freed without
    having been allocated.
    """
    actions, addresses, sizes = events.actions, events.addresses, events.sizes
    freed = FREE_COMPLETED if FREE_COMPLETED in set(actions) else FREE_REQUESTED
    live = {block.address: block for segment in segments for block in segment.blocks if block.state != "free"}
    final = sum(block.asked for block in live.values())
    reserved_final = sum(segment.size for segment in segments)
    net, net_reserved = 0, 0
    opened: dict[int, int] = {}
    older: dict[int, int] = {}
    for at in range(len(actions)):
        action = actions[at]
        if action == ALLOC:
            net += sizes[at]
            opened[addresses[at]] = at
        elif action == freed:
            net -= sizes[at]
            if opened.pop(addresses[at], None) is None:
                older.setdefault(addresses[at], sizes[at])
        elif action in {SEGMENT_ALLOC, SEGMENT_MAP}:
            net_reserved += sizes[at]
        elif action in {SEGMENT_FREE, SEGMENT_UNMAP}:
            net_reserved -= sizes[at]
    before, reserved_before = max(0, final - net), max(0, reserved_final - net_reserved)
    held_values, reserved_values = array("q"), array("q")
    held, reserved, peak, peak_event = before, reserved_before, before, -1
    failures: list[OutOfMemory] = []
    for at in range(len(actions)):
        action = actions[at]
        if action == ALLOC:
            held += sizes[at]
            if held > peak:
                peak, peak_event = held, at
        elif action == freed:
            held -= sizes[at]
        elif action in {SEGMENT_ALLOC, SEGMENT_MAP}:
            reserved += sizes[at]
        elif action in {SEGMENT_FREE, SEGMENT_UNMAP}:
            reserved -= sizes[at]
        elif action == OOM and len(failures) < 1000:
            failures.append(OutOfMemory(at, sizes[at], addresses[at], held, reserved, events.stacks[at]))
        held_values.append(held)
        reserved_values.append(reserved)
    survivors: dict[int, list[int]] = {}
    for at in sorted(opened.values()):
        survivors.setdefault(events.stacks[at], []).append(at)
    # What the record began with: blocks that are still there and were never allocated in it, with their stacks; and what was freed in it, without.
    untouched = Counter[int]()
    blocks = Counter[int]()
    for address, block in live.items():
        if address not in opened:
            untouched[block.stack] += block.asked
            blocks[block.stack] += 1
    at_peak = _at(events, peak_event, freed, _Before(untouched, blocks, older))
    return Replay(held_values, reserved_values, peak, peak_event, at_peak, before, tuple(failures), survivors)


class _Before(NamedTuple):
    """What was held when the record began: bytes and blocks by stack of what still is, and the sizes by address of what was freed since."""

    untouched: Counter[int]
    blocks: Counter[int]
    older: dict[int, int]


def _at(events: Events, moment: int, freed: int, before: _Before) -> tuple[Held, ...]:
    """Give what each stack held after an event, the most first."""
    actions, addresses, sizes, stacks = events.actions, events.addresses, events.sizes, events.stacks
    opened: dict[int, int] = {}
    waiting = dict(before.older)
    for at in range(moment + 1):
        if actions[at] == ALLOC:
            opened[addresses[at]] = at
        elif actions[at] == freed and opened.pop(addresses[at], None) is None:
            waiting.pop(addresses[at], None)
    held = Counter(before.untouched)
    count = Counter(before.blocks)
    held[0] += sum(waiting.values())
    count[0] += len(waiting)
    for at in opened.values():
        held[stacks[at]] += sizes[at]
        count[stacks[at]] += 1
    return tuple(Held(stack, amount, count[stack]) for stack, amount in held.most_common() if amount > 0)
