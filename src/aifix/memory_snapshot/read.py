"""Take a snapshot out of plain data: segments and blocks as they stood, and what the allocator did before, in arrays.

The format, from torch's sources (`torch/csrc/cuda/Module.cpp`, `torch/csrc/cuda/memory_snapshot.cpp`, `torch/cuda/memory.py`): a dictionary of
`segments`, `device_traces`, `allocator_settings` and, in newer versions, `external_annotations`; `torch.cuda.memory_snapshot()` gives the list of
segments alone. Older versions kept a block's stack in `history`. An event's `size` is what was asked for, a block's what it takes up.
"""

from __future__ import annotations

from array import array
from typing import Any, Literal

import msgspec

from aifix.memory_snapshot.stacks import Stacks

Action = Literal[
    "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "snapshot", "oom", "other"
]
ACTIONS: tuple[Action, ...] = (
    "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "snapshot", "oom", "other",
)  # fmt: skip
ALLOC, FREE_REQUESTED, FREE_COMPLETED, SEGMENT_ALLOC, SEGMENT_FREE, SEGMENT_MAP, SEGMENT_UNMAP, SNAPSHOT, OOM, OTHER = range(len(ACTIONS))
_NUMBERS: dict[str, int] = {name: number for number, name in enumerate(ACTIONS)}
LARGEST = (1 << 63) - 1
MARKS = 100_000
TEXT = 200


class Block(msgspec.Struct, frozen=True, gc=False):
    """A piece of a segment; `asked` is what the program wanted, `size` what it got."""

    address: int
    size: int
    asked: int
    state: Literal["live", "pending", "free"]
    stack: int


class Segment(msgspec.Struct, frozen=True):
    """Memory that one call of cudaMalloc gave, or one growing range of virtual memory."""

    device: int
    address: int
    size: int
    stream: int
    large: bool
    expandable: bool
    pool: tuple[int, int]
    blocks: tuple[Block, ...]


class Mark(msgspec.Struct, frozen=True):
    """A moment that the program named (record_function with global annotations)."""

    time: int
    name: str
    stage: str


class Events:
    """What the allocator of one device did, in order. Times are microseconds of the host's clock; an `oom` keeps the free memory as its address."""

    def __init__(self) -> None:
        self.actions = array("b")
        self.addresses = array("q")
        self.sizes = array("q")
        self.times = array("q")
        self.stacks = array("l")

    def __len__(self) -> int:
        return len(self.actions)


class Memory(msgspec.Struct, frozen=True):
    """A snapshot."""

    segments: tuple[Segment, ...]
    events: dict[int, Events]
    stacks: Stacks
    settings: dict[str, str]
    marks: tuple[Mark, ...]


class SnapshotError(ValueError):
    """The data is no memory snapshot."""


def parse(data: Any) -> Memory:
    """Take a snapshot out of plain data.

    Raises:
        SnapshotError: it is none.

    """
    if isinstance(data, list):
        data = {"segments": data}
    if not isinstance(data, dict) or not isinstance(data.get("segments"), list):
        raise SnapshotError("it holds no memory snapshot: no list of segments, as torch.cuda.memory._dump_snapshot writes")
    traces = data.get("device_traces", [])
    if not isinstance(traces, list) or (data["segments"] and not isinstance(data["segments"][0], dict)):
        raise SnapshotError("it holds no memory snapshot: its segments or traces have another form")
    stacks = Stacks()
    segments = tuple(_segment(one, stacks) for one in data["segments"] if isinstance(one, dict))
    events = {device: _events(trace, stacks) for device, trace in enumerate(traces[:1024]) if isinstance(trace, list) and trace}
    stacks.settle()
    return Memory(segments, events, stacks, _settings(data.get("allocator_settings")), _marks(data.get("external_annotations")))


def _segment(one: dict[Any, Any], stacks: Stacks) -> Segment:
    address = _number(one.get("address"))
    blocks = []
    at = address
    listed = one.get("blocks")
    for block in listed if isinstance(listed, list) else ():
        if not isinstance(block, dict):
            continue
        size = _number(block.get("size"))
        state = block.get("state")
        frames, asked = _details(block, size)
        kind: Literal["live", "pending", "free"] = "live" if state == "active_allocated" else "free" if state == "inactive" else "pending"
        blocks.append(Block(_number(block.get("address")) or at, size, asked if kind != "free" else 0, kind, stacks.number(frames)))
        at += size
    pool = one.get("segment_pool_id")
    return Segment(
        device=_number(one.get("device")),
        address=address,
        size=_number(one.get("total_size")) or sum(block.size for block in blocks),
        stream=_number(one.get("stream")),
        large=one.get("segment_type") != "small",
        expandable=one.get("is_expandable") is True,
        pool=(_number(pool[0]), _number(pool[1])) if isinstance(pool, (tuple, list)) and len(pool) == 2 else (0, 0),
        blocks=tuple(blocks),
    )


def _details(block: dict[Any, Any], size: int) -> tuple[Any, int]:
    """Give a block's stack and the size that was asked for; until torch 2.0 they stood in its history."""
    history = block.get("history")
    if isinstance(history, list) and history and isinstance(history[0], dict):
        return history[0].get("frames"), _number(history[0].get("real_size")) or size
    return block.get("frames"), _number(block.get("requested_size")) or size


def _events(trace: list[Any], stacks: Stacks) -> Events:
    events = Events()
    actions, addresses, sizes, times, numbers = (
        events.actions.append,
        events.addresses.append,
        events.sizes.append,
        events.times.append,
        events.stacks.append,
    )
    number = stacks.number
    for entry in trace:
        if type(entry) is not dict:
            continue
        name = entry.get("action")
        action = _NUMBERS.get(name, OTHER) if isinstance(name, str) else OTHER
        actions(action)
        addresses(_number(entry.get("device_free" if action == OOM else "addr")))
        sizes(_number(entry.get("size")))
        times(_number(entry.get("time_us")))
        numbers(number(entry.get("frames")))
    return events


def _number(value: Any) -> int:
    return value if type(value) is int and 0 <= value <= LARGEST else 0


def _settings(settings: Any) -> dict[str, str]:
    if not isinstance(settings, dict):
        return {}
    kept = {}
    for name, value in list(settings.items())[:64]:
        if isinstance(name, str) and isinstance(value, (str, int, float, bool)) and not (isinstance(value, int) and abs(value) > LARGEST):
            kept[name[:TEXT]] = str(value)[:TEXT]
    return kept


def _marks(annotations: Any) -> tuple[Mark, ...]:
    if not isinstance(annotations, list):
        return ()
    found = []
    for one in annotations[:MARKS]:
        if isinstance(one, dict):
            name, stage = one.get("name"), one.get("stage")
            found.append(
                Mark(_number(one.get("time_us")), name[:TEXT] if isinstance(name, str) else "", stage[:TEXT] if isinstance(stage, str) else "")
            )
    return tuple(found)
