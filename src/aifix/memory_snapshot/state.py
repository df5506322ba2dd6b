"""How the reserved memory is cut up: what is free, in which pieces, and whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.memory_snapshot.read import Segment


class Cut(msgspec.Struct, frozen=True):
    """The state of some segments, in bytes.

    `reserved` is what the card gave, `held` what tensors take up, rounded, `asked` what they asked for. Free memory lies in whole segments
    that could go back to the card (`releasable`) or between live blocks (`split`); `largest_free` is the largest piece. `pending` waits for
    another stream.
    """

    reserved: int
    held: int
    asked: int
    pending: int
    releasable: int
    split: int
    largest_free: int
    free_pieces: int
    segments: int
    expandable: bool

    @property
    def free(self) -> int:
        """Bytes that are reserved and not used."""
        return self.releasable + self.split

    @property
    def rounding(self) -> int:
        """Bytes lost to rounding."""
        return self.held - self.asked


class Pool(msgspec.Struct, frozen=True):
    """A private pool: CUDA graphs, or torch.cuda.MemPool. No other allocation may use its free memory."""

    name: tuple[int, int]
    cut: Cut


def cut(segments: Sequence[Segment]) -> Cut:
    """Add up segments."""
    held = asked = pending = releasable = split = largest = pieces = 0
    for segment in segments:
        free = [block.size for block in segment.blocks if block.state == "free"]
        used = [block for block in segment.blocks if block.state != "free"]
        held += sum(block.size for block in used)
        asked += sum(block.asked for block in used)
        pending += sum(block.size for block in used if block.state == "pending")
        if used:
            split += sum(free)
        else:
            releasable += sum(free)
        largest = max([largest, *free])
        pieces += len(free)
    return Cut(
        reserved=sum(segment.size for segment in segments),
        held=held,
        asked=asked,
        pending=pending,
        releasable=releasable,
        split=split,
        largest_free=largest,
        free_pieces=pieces,
        segments=len(segments),
        expandable=any(segment.expandable for segment in segments),
    )


def pools(segments: Sequence[Segment]) -> tuple[Pool, ...]:
    """Give the private pools, the largest first."""
    names = {segment.pool for segment in segments if segment.pool != (0, 0)}
    found = [Pool(name, cut([segment for segment in segments if segment.pool == name])) for name in sorted(names)]
    return tuple(sorted(found, key=lambda pool: -pool.cut.reserved))
