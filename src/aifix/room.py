"""How much address space a limit (`ulimit -v`) leaves: libraries in C end the whole process where they get none, so it is asked before."""

from __future__ import annotations

import os

NEEDED = 160 << 20
"""Bytes that a diagnosis takes at least, with the libraries that it loads."""
THREADS = 192 << 20
"""Bytes that supervising takes at least: a thread for which there is no memory dies as it begins, and whoever started it waits for ever."""
BESIDE_THREADS = 512 << 20
"""Bytes that it takes where threads run: each reserves its own stack and heap."""


def left() -> int | None:
    """Give the bytes that this process may still map; None where there is no limit, or none that is known."""
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY:
            return None
        with open("/proc/self/statm", "rb") as stream:  # noqa: PTH123 - a failing pipe pays for this
            used = int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, AttributeError, OSError, ValueError, IndexError):
        return None
    return max(0, most - used)


def need(count: int) -> None:
    """Make sure of some room.

    Args:
        count: bytes.

    Raises:
        MemoryError: there is less.

    """
    found = left()
    if found is not None and found < count:
        raise MemoryError
