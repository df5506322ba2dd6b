"""Find what never comes down: allocations of one line that stay, again and again over the whole record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from aifix.memory_snapshot.read import Events
    from aifix.memory_snapshot.replay import Replay
    from aifix.memory_snapshot.stacks import Stacks

Cause = Literal["kept-tensors", "retained-graph", "no-stack"]
WINDOWS = 16
"""Parts into which the record is cut."""
LEAST = 6
"""Blocks that must have stayed from one line before it counts as growing."""
SPREAD = 0.6
"""Share of the windows, beginning with the first one in which the line ran, in which it must have left something."""
WARM = 0.15
"""Part at the beginning in which memory that stays is no leak: parameters, optimizer state and caches are made then."""
GRAPH = 3
"""Lines that grow in step with each other, some of them in a module's forward, that make a retained graph."""
SHARE = 0.005
"""Least share of the peak that the growth must have."""


class Grower(msgspec.Struct, frozen=True):
    """A line that leaves blocks behind."""

    stack: int
    blocks: int
    bytes: int
    first: int
    last: int
    windows: int


class Growth(msgspec.Struct, frozen=True):
    """What grows. `floor_first` and `floor_last` are the least that was held in the second and in the last quarter of the record."""

    growers: tuple[Grower, ...]
    cause: Cause | None
    bytes: int
    """All that the growers left."""
    steps: int
    """How often the leading one did."""
    floor_first: int
    floor_last: int

    @property
    def per_step(self) -> int:
        """Bytes a step."""
        return self.bytes // self.steps if self.steps else 0


def growth(events: Events, replayed: Replay, stacks: Stacks) -> Growth:
    """Tell what grew over the record and did not come down.

    A stack whose blocks stayed in most windows of the record grows with time. What a step had not finished when the record ended stays too,
    but lies in the last windows alone; parameters and caches lie in the first.
    """
    total = len(events)
    floor_first, floor_last = _floor(replayed.held, total // 4, total // 2), _floor(replayed.held, 3 * total // 4, total)
    growers = []
    if total >= WINDOWS * 4:
        for stack, left in replayed.survivors.items():
            late = [at for at in left if at >= total * WARM]
            windows = {at * WINDOWS // total for at in late}
            first = min(windows, default=WINDOWS)
            if len(late) >= LEAST and first <= WINDOWS // 2 and len(windows) >= max(4, SPREAD * (WINDOWS - first)):
                amount = sum(events.sizes[at] for at in late)
                growers.append(Grower(stack, len(late), amount, late[0], late[-1], len(windows)))
    growers.sort(key=lambda one: -one.bytes)
    amount = sum(one.bytes for one in growers)
    if not growers or floor_last <= floor_first or amount < SHARE * replayed.peak:
        return Growth((), None, 0, 0, floor_first, floor_last)
    steps = _steps(growers)
    return Growth(tuple(growers), _cause(growers, stacks, steps), amount, steps, floor_first, floor_last)


def _floor(held: array[int], start: int, end: int) -> int:
    return min(held[start:end], default=0)


def _steps(growers: Sequence[Grower]) -> int:
    """Tell how many steps left something: the most common count, since a loop inside a step makes multiples."""
    counts = sorted(one.blocks for one in growers)
    return counts[len(counts) // 4]


def _cause(growers: Sequence[Grower], stacks: Stacks, steps: int) -> Cause:
    known = [one for one in growers if one.stack]
    if not known:
        return "no-stack"
    together = [one for one in known if abs(one.blocks % steps) <= 1 or abs(one.blocks % steps - steps) <= 1]
    inside = [one for one in together if stacks.all[one.stack].kind == "activations"]
    return "retained-graph" if len(together) >= GRAPH and len(inside) >= GRAPH - 1 else "kept-tensors"
