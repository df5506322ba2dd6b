"""Small things in words."""

from __future__ import annotations

import re

_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|min|sec|s|m|h|d)?")
_UNITS = {"ms": 0.001, "": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(text: str) -> float:
    """Read a length of time: 90, 90s, 10m, 1h30m.

    Raises:
        ValueError: it is none.

    """
    given = text.strip().lower().replace(" ", "")
    parts = list(_PART.finditer(given))
    if not parts or "".join(part[0] for part in parts) != given:
        raise ValueError(f"{text!r} is no length of time; write 90s, 10m or 1h30m")
    return sum(float(part[1]) * _UNITS[part[2] or ""] for part in parts)


def duration(length: float) -> str:
    """Say a length of time as people do."""
    if length < 10:
        return f"{length:.1f} s"
    if length < 60:
        return f"{length:.0f} s"
    if length < 3600:
        return f"{int(length // 60)} min" + (f" {int(length % 60)} s" if int(length % 60) else "")
    return f"{int(length // 3600)} h" + (f" {int(length % 3600 // 60)} min" if int(length % 3600 // 60) else "")


def size(count: float) -> str:
    """Say a number of bytes."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return ""
