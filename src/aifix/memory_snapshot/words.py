"""What a snapshot says, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.intake.tracebacks import foremost
from aifix.model import Fact
from aifix.reason.expressions import size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.memory_snapshot.stacks import Frame
    from aifix.memory_snapshot.state import Cut
    from aifix.memory_snapshot.verdict import Device, Failure


def size_fact(number: int) -> Fact:
    """Make a fact of a size."""
    return Fact(size(number), number, "bytes")


def place(frames: Sequence[Frame]) -> str:
    """Name a stack by the user's line, else by its innermost frame."""
    frame = foremost(frames)
    if frame is None:
        return "no recorded stack"
    where = f"{frame.file}:{frame.line}" if frame.line else frame.file
    return f"{where} in {frame.function}" if frame.function else where


def failure(one: Failure, device: Device) -> str:
    """Say what a failed request wanted and found."""
    told = (
        f"A request for {size(one.requested)} failed on device {device.device}: tensors held {size(one.held)}, the allocator had reserved "
        f"{size(one.reserved)}, and {size(one.device_free)} were free on the card."
    )
    if one.fragmented:
        told += f" The reserve had {size(one.reserved - one.held)} to spare, but its largest free piece is {size(device.shared.largest_free)}."
    private = sum(pool.cut.free for pool in device.pools)
    if private >= one.requested:
        told += f" Another {size(private)} lie free in private pools (CUDA graphs), which no other allocation may use."
    return told


def fragmentation(cut: Cut) -> str:
    """Say how the reserve is cut up."""
    return (
        f"Of {size(cut.reserved)} reserved, {size(cut.free)} are free: {size(cut.split)} between live blocks in {cut.free_pieces:,} pieces, "
        f"the largest {size(cut.largest_free)}, and {size(cut.releasable)} in whole segments that could go back to the card."
    )


def growth(device: Device) -> str:
    """Say what grows, and why that is likely."""
    grown = device.growth
    lines = len(device.leaks)
    by = "one line" if lines == 1 else f"{lines} lines"
    told = f"{size(grown.bytes)} were left behind in about {grown.steps:,} steps ({size(grown.per_step)} a step), by {by}; "
    told += f"the least that was held rose from {size(grown.floor_first)} to {size(grown.floor_last)}."
    if grown.cause == "retained-graph":
        return f"{told} Lines of a forward pass keep theirs together, once a step: a whole graph is kept, by a loss or an output not detached."
    if grown.cause == "kept-tensors":
        return f"{told} The same line keeps a tensor each time: in a list, a dictionary, a cache, an attribute, or a closure."
    return f"{told} The blocks have no stack, so the line cannot be told: record with torch.cuda.memory._record_memory_history(context='all')."
