"""A simulation of PyTorch's caching allocator that writes snapshots in torch's own format.

Where no GPU is, snapshots cannot be recorded; these are made by the allocator's published rules (`c10/cuda/CUDACachingAllocator.cpp`, torch 2.13): sizes
rounded to 512 bytes; up to 1 MiB from segments of 2 MiB; below 10 MiB from segments of 20 MiB; larger ones in segments rounded to 2 MiB; the
best fitting free block of the pool and stream; split when the rest is worth it; free neighbours merged; cached segments given back before it gives up. Every
record has the fields that torch writes, and torch's own tools read the result (test_format.py).
"""

from __future__ import annotations

from typing import Any

MIB = 1 << 20
GIB = 1 << 30
SITE = "/opt/venv/lib/python3.11/site-packages/torch"


def frame(function: str, filename: str, line: int) -> dict[str, Any]:
    return {"name": function, "filename": filename, "line": line}


class Piece:
    """A block of a segment."""

    def __init__(self, address: int, size: int) -> None:
        self.address = address
        self.size = size
        self.asked = 0
        self.live = False
        self.frames: list[dict[str, Any]] = []


class Area:
    """A segment."""

    def __init__(self, address: int, size: int, *, large: bool, pool: tuple[int, int], frames: list[dict[str, Any]]) -> None:
        self.address = address
        self.size = size
        self.large = large
        self.pool = pool
        self.frames = frames
        self.pieces = [Piece(address, size)]


class OutOfMemoryError(Exception):
    """The card has no room left."""


class Allocator:
    """One device."""

    def __init__(self, capacity: int = 24 * GIB, *, record_frames: bool = True) -> None:
        self.capacity = capacity
        self.record_frames = record_frames
        self.areas: list[Area] = []
        self.trace: list[dict[str, Any]] = []
        self.where: dict[int, Area] = {}
        self.pool = (0, 0)
        self.time = 1_790_000_000_000_000
        self.next = 0x7F0000000000

    @property
    def reserved(self) -> int:
        return sum(area.size for area in self.areas)

    def malloc(self, size: int, frames: list[dict[str, Any]]) -> int:
        """Allocate; give the address."""
        frames = frames if self.record_frames else []
        rounded = max(512, (size + 511) // 512 * 512)
        large = rounded > MIB
        area, piece = self._best(rounded, large=large) or self._segment(rounded, large=large, asked=size, frames=frames)
        rest = piece.size - rounded
        if rest >= 512 if not large else rest > MIB:
            at = area.pieces.index(piece)
            area.pieces.insert(at + 1, Piece(piece.address + rounded, rest))
            piece.size = rounded
        piece.live, piece.asked, piece.frames = True, size, frames
        self.where[piece.address] = area
        self._record("alloc", piece.address, size, frames)
        return piece.address

    def free(self, address: int, frames: list[dict[str, Any]] | None = None) -> None:
        """Free, and merge with free neighbours."""
        area = self.where.pop(address)
        at = next(at for at, piece in enumerate(area.pieces) if piece.address == address)
        piece = area.pieces[at]
        for action in ("free_requested", "free_completed"):
            self._record(action, address, piece.asked, frames or [])
        piece.live, piece.frames, piece.asked = False, [], 0
        for other in (at + 1, at - 1):
            if 0 <= other < len(area.pieces) and not area.pieces[other].live:
                low, high = sorted((at, other))
                area.pieces[low].size += area.pieces[high].size
                del area.pieces[high]
                at = low

    def empty_cache(self) -> None:
        """Give back segments in which nothing lives."""
        for area in [area for area in self.areas if len(area.pieces) == 1 and not area.pieces[0].live]:
            self.areas.remove(area)
            self._record("segment_free", area.address, area.size, [])

    def snapshot(self) -> dict[str, Any]:
        """Write what torch.cuda.memory._snapshot() gives."""
        return {
            "segments": [self._area(area) for area in self.areas],
            "device_traces": [self.trace],
            "allocator_settings": {
                "PYTORCH_CUDA_ALLOC_CONF": "",
                "max_split_size": -1,
                "garbage_collection_threshold": 0.0,
                "expandable_segments": False,
                "pinned_num_register_threads": 1,
                "release_lock_on_cudamalloc": False,
                "pinned_use_cuda_host_register": False,
                "roundup_power2_divisions": {str(1 << power): 0 for power in range(16)},
            },
            "external_annotations": [],
        }

    def _best(self, size: int, *, large: bool) -> tuple[Area, Piece] | None:
        fitting = [
            (piece.size, piece.address, area, piece)
            for area in self.areas
            if area.large == large and area.pool == self.pool
            for piece in area.pieces
            if not piece.live and piece.size >= size
        ]
        if not fitting:
            return None
        _, _, area, piece = min(fitting, key=lambda found: found[:2])
        return area, piece

    def _segment(self, size: int, *, large: bool, asked: int, frames: list[dict[str, Any]]) -> tuple[Area, Piece]:
        wanted = 2 * MIB if not large else 20 * MIB if size < 10 * MIB else (size + 2 * MIB - 1) // (2 * MIB) * (2 * MIB)
        if self.reserved + wanted > self.capacity:
            self.empty_cache()
        if self.reserved + wanted > self.capacity:
            self.trace.append(
                {
                    "action": "oom",
                    "device_free": self.capacity - self.reserved,
                    "size": asked,
                    "stream": 0,
                    "time_us": self._now(),
                    "compile_context": "N/A",
                    "user_metadata": "",
                    "pool_id": self.pool,
                    "frames": frames,
                }
            )
            raise OutOfMemoryError
        area = Area(self.next, wanted, large=large, pool=self.pool, frames=frames)
        self.next += wanted + 2 * MIB
        self.areas.append(area)
        self._record("segment_alloc", area.address, wanted, frames)
        return area, area.pieces[0]

    def _record(self, action: str, address: int, size: int, frames: list[dict[str, Any]]) -> None:
        self.trace.append(
            {
                "action": action,
                "addr": address,
                "size": size,
                "stream": 0,
                "time_us": self._now(),
                "compile_context": "N/A",
                "user_metadata": "",
                "pool_id": self.pool,
                "frames": frames,
            }
        )

    def _now(self) -> int:
        self.time += 37
        return self.time

    def _area(self, area: Area) -> dict[str, Any]:
        return {
            "device": 0,
            "address": area.address,
            "total_size": area.size,
            "allocated_size": sum(piece.size for piece in area.pieces if piece.live),
            "active_size": sum(piece.size for piece in area.pieces if piece.live),
            "requested_size": sum(piece.asked for piece in area.pieces),
            "stream": 0,
            "segment_type": "large" if area.large else "small",
            "segment_pool_id": area.pool,
            "is_expandable": False,
            "frames": area.frames,
            "blocks": [
                {
                    "address": piece.address,
                    "size": piece.size,
                    "requested_size": piece.asked if piece.live else piece.size,
                    "state": "active_allocated" if piece.live else "inactive",
                    "frames": piece.frames,
                }
                for piece in area.pieces
            ],
        }
