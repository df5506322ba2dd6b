"""PyTorch's CUDA memory snapshots: what stood at the peak and whose it was, how the reserve is cut up, and what never comes down."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aifix.memory_snapshot.read import Memory
    from aifix.memory_snapshot.verdict import Snapshot
    from aifix.rulebase.base import Base

__all__ = ["load", "snapshot"]

LARGEST = 4 << 30
"""Bytes of a file above which it is not read: as objects it takes about six times as much memory."""


def snapshot(path: str | Path, *, base: Base | None = None) -> Snapshot:
    """Read a memory snapshot, as torch.cuda.memory._dump_snapshot writes it, and say what it shows.

    Args:
        path: the pickle. Only plain data is taken out of it, so it may come from anywhere.
        base: the rules for explanations and fixes; the built-in and the user's by default.

    Raises:
        aifix.unpickle.UnpickleError: it is no pickle, a broken one, or one that could run code.
        aifix.memory_snapshot.read.SnapshotError: it is no memory snapshot.
        OSError: it cannot be read.

    """
    from aifix import api
    from aifix.memory_snapshot.verdict import judge

    return judge(load(path), base or api.rule_base(), source=str(path))


def load(path: str | Path) -> Memory:
    """Read a snapshot's file; raises as `snapshot` does."""
    from aifix import unpickle
    from aifix.memory_snapshot.read import SnapshotError, parse

    file = Path(path)
    if file.stat().st_size > LARGEST:
        raise SnapshotError(f"it has {file.stat().st_size:,} bytes; record with max_entries, as 1,000,000")
    collecting = gc.isenabled()
    gc.disable()  # millions of new objects and no garbage: the collector would look at all of them again and again
    try:
        return parse(unpickle.loads(file.read_bytes()))
    finally:
        if collecting:
            gc.enable()
