"""The nouns of a flight recorder: what one rank's dump says, whichever version of torch wrote it.

Layouts, from torch's sources (`c10d/FlightRecorder.hpp`, before it `c10d/NCCLUtils.hpp` and `TraceUtils.h`). Version 1.1 (torch 2.2): `entries`,
each with one counter `seq_id` and the number of its group. 1.4 (torch 2.3): `record_id`, `op_id`, and `pg_config` as lists of ranks by the groups'
numbers. From 2.0 on: `collective_seq_id`, `p2p_seq_id` and `is_p2p`, groups by name with a description; then types, `timeout_ms`, `pg_status`, the
library's version (`nccl_version`, from 2.8 or so `comm_lib_version`) and the thread. JSON dumps hold the same without stacks, with 0 for a time
that is not known, and the status as text. A bare list of entries is read too.
"""

from __future__ import annotations

from typing import Any

import msgspec

from aifix.intake.tracebacks import foremost, is_user

FRAMES = 64
"""Frames kept of a call."""
TENSORS = 4096
"""Tensors kept of a call: a coalesced one names many."""
TEXT = 4096
_PEER_TO_PEER = ("send", "recv")


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One frame of the stack of a call, innermost first; `user` tells the user's code from a library's."""

    file: str
    line: int
    function: str
    user: bool


class Call(msgspec.Struct, frozen=True):
    """One operation that a rank enqueued.

    `sequence` counts the group's collectives (of a point-to-point operation: its send and receive calls), `record` all that the rank recorded.
    `state` is scheduled, started or completed; gloo never moves it, so `known` tells whether it can be believed. Times are nanoseconds of the
    rank's own clock, None when not known.
    """

    record: int
    group: str
    description: str
    group_number: int
    sequence: int
    step: int
    operation: str
    backend: str
    peer_to_peer: bool
    peers: tuple[int, int] | None
    """Sender and receiver, as ranks in the group."""
    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    input_types: tuple[str, ...]
    output_types: tuple[str, ...]
    state: str
    known: bool
    retired: bool
    created: int | None
    started: int | None
    completed: int | None
    timeout: int | None
    """Milliseconds."""
    frames: tuple[Frame, ...]

    @property
    def place(self) -> Frame | None:
        """The innermost frame of the user's own code; the innermost of all where none is."""
        return foremost(self.frames)


class Members(msgspec.Struct, frozen=True):
    """A process group as a rank knows it."""

    name: str
    description: str
    ranks: tuple[int, ...]


class Status(msgspec.Struct, frozen=True):
    """How far a group had come on a rank; -1 where it had not."""

    enqueued: int
    started: int
    completed: int


class Dump(msgspec.Struct, frozen=True):
    """What one rank wrote. `wrapped` tells that its ring buffer lost the oldest calls; `partial` that it names only unfinished calls."""

    rank: int
    file: str
    version: str
    library: str
    groups: tuple[Members, ...]
    status: dict[int, Status]
    calls: tuple[Call, ...]
    wrapped: bool
    partial: bool


class DumpError(ValueError):
    """The file is no flight-recorder dump."""


def parse(data: Any, *, rank: int, file: str) -> Dump:
    """Take a dump out of plain data.

    Raises:
        DumpError: it is none.

    """
    if isinstance(data, list):
        data = {"entries": data}
    if not isinstance(data, dict) or not ({"entries", "pg_config", "pg_status"} & data.keys()):
        raise DumpError("it holds no flight-recorder dump: neither entries nor process groups")
    entries = data.get("entries", [])
    if not isinstance(entries, list):
        raise DumpError("its entries are no list")
    frames = _Frames()
    calls = sorted((_call(entry, at, frames) for at, entry in enumerate(entries) if isinstance(entry, dict)), key=lambda call: call.record)
    records = [call.record for call in calls]
    return Dump(
        rank=rank,
        file=file,
        version=_text(data.get("version")) or "?",
        library=_text(data.get("comm_lib_version") or data.get("nccl_version")),
        groups=_groups(data.get("pg_config")),
        status=_status(data.get("pg_status")),
        calls=tuple(calls),
        wrapped=bool(records) and records[0] > 0 and records[-1] - records[0] + 1 == len(records),
        partial=bool(records) and records[-1] - records[0] + 1 != len(records) and all(call.state != "completed" for call in calls),
    )


def _call(entry: dict[Any, Any], at: int, frames: _Frames) -> Call:
    name = _text(entry.get("profiling_name"))
    backend, _, operation = name.rpartition(":")
    operation, _, arrow = operation.partition(" ")
    peer_to_peer = entry.get("is_p2p")
    if not isinstance(peer_to_peer, bool):
        peer_to_peer = operation in _PEER_TO_PEER
    group = entry.get("process_group", str(_number(entry.get("pg_id"), 0)))
    pair = group if isinstance(group, (list, tuple)) and len(group) == 2 else (group, "")
    number = _number(entry.get("pg_id"), 0)
    state = _text(entry.get("state"))
    collective = _number(entry.get("collective_seq_id", entry.get("seq_id")), at)
    return Call(
        record=_number(entry.get("record_id"), at),
        group=_text(pair[0]),
        description="" if pair[1] == "undefined" else _text(pair[1]),
        group_number=number,
        sequence=_number(entry.get("p2p_seq_id"), collective) if peer_to_peer else collective,
        step=_number(entry.get("op_id"), at),
        operation=operation,
        backend=backend,
        peer_to_peer=peer_to_peer,
        peers=_peers(operation, arrow),
        inputs=_shapes(entry.get("input_sizes")),
        outputs=_shapes(entry.get("output_sizes")),
        input_types=_texts(entry.get("input_dtypes")),
        output_types=_texts(entry.get("output_dtypes")),
        state=state or "scheduled",
        known=bool(state) and not (backend == "gloo" and state == "scheduled"),
        retired=entry.get("retired") is True,
        created=_number(entry.get("time_created_ns"), 0) or None,
        started=_number(entry.get("time_discovered_started_ns"), 0) or None,
        completed=_number(entry.get("time_discovered_completed_ns"), 0) or None,
        timeout=_number(entry.get("timeout_ms"), 0) or None,
        frames=frames.of(entry.get("frames")),
    )


class _Frames:
    """The stacks, each made once: a pickle may say one list of frames in every entry."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Frame, ...]] = {}
        self._made: dict[tuple[str, int, str], Frame] = {}

    def of(self, frames: Any) -> tuple[Frame, ...]:
        """Give the frames of an entry."""
        if not isinstance(frames, list) or not frames:
            return ()
        found = self._known.get(id(frames))
        if found is None:
            found = tuple(self._frame(frame) for frame in frames[:FRAMES] if isinstance(frame, dict))
            self._known[id(frames)] = found
        return found

    def _frame(self, frame: dict[Any, Any]) -> Frame:
        file, function, line = _text(frame.get("filename")), _text(frame.get("name")), _number(frame.get("line"), 0)
        found = self._made.get((file, line, function))
        if found is None:
            found = self._made[file, line, function] = Frame(file, line, function, is_user(file, function))
        return found


def _groups(config: Any) -> tuple[Members, ...]:
    if not isinstance(config, dict):
        return ()
    found = []
    for key, one in list(config.items())[:TENSORS]:
        if isinstance(one, list):
            found.append(Members(str(_number(key, 0)), "", _ranks(one)))
        elif isinstance(one, dict):
            ranks = one.get("ranks")
            description = _text(one.get("desc"))
            found.append(Members(_text(one.get("name")) or _text(key), "" if description == "undefined" else description, _ranks(ranks)))
    return tuple(found)


def _ranks(value: Any) -> tuple[int, ...]:
    """Read the ranks of a group; torch writes them as the text of a list."""
    if isinstance(value, str):
        value = [int(part) for part in value.strip("[] ").split(",") if part.strip().isdigit() and len(part) < 12]
    return tuple(part for part in value if isinstance(part, int)) if isinstance(value, (list, tuple)) else ()


def _status(status: Any) -> dict[int, Status]:
    if not isinstance(status, dict):
        return {}
    found = {}
    for key, one in status.items():
        number = _number(key, -1)
        if number >= 0 and isinstance(one, dict):
            found[number] = Status(*(_number(one.get(f"last_{name}_collective"), -1) for name in ("enqueued", "started", "completed")))
    return found


def _peers(operation: str, arrow: str) -> tuple[int, int] | None:
    """Read sender and receiver of `send 1->2` and `recv 2<-1`, as ranks in the group."""
    sign = {"send": "->", "recv": "<-"}.get(operation)
    if sign is None:
        return None
    own, _, other = arrow.partition(sign)
    if not (own.isdigit() and other.isdigit() and len(arrow) < 24):
        return None
    return (int(own), int(other)) if operation == "send" else (int(other), int(own))


def _shapes(value: Any) -> tuple[tuple[int, ...], ...]:
    if not isinstance(value, list):
        return ()
    return tuple(tuple(_number(size, 0) for size in one[:TENSORS]) if isinstance(one, list) else () for one in value[:TENSORS])


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(_text(one) for one in value[:TENSORS]) if isinstance(value, list) else ()


def _text(value: Any) -> str:
    return value[:TEXT] if isinstance(value, str) else ""


def _number(value: Any, otherwise: int) -> int:
    """Read a number, or the text of one (JSON dumps write the status so); what no clock or counter holds counts as not there."""
    if isinstance(value, str) and len(value) < 24 and value.lstrip("-").isdigit():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63 else otherwise
