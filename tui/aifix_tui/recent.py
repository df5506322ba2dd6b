"""The logs that were opened lately, and those that lie about in the working folder."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

KEPT = 12
SUFFIXES = {".log", ".out", ".err", ".txt"}
SCANNED = 2000
"""Entries of the working folder that are looked at."""


def store() -> Path:
    """Name the file in which the list is kept."""
    state = os.environ.get("XDG_STATE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else "") or "~/.local/state"
    return Path(state).expanduser() / "aifix" / "recent.json"


def recent() -> list[Path]:
    """Give the logs that were opened lately and are still there, the last one first."""
    try:
        listed = json.loads(store().read_text("utf-8"))
    except (OSError, ValueError):
        return []
    paths = [Path(one) for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    return [path for path in paths if path.is_file()][:KEPT]


def remember(path: Path) -> None:
    """Put a log at the head of the list; where that cannot be written, nothing is lost but the list."""
    absolute = path.absolute()
    paths = [absolute, *[one for one in recent() if one != absolute]][:KEPT]
    target = store()
    with contextlib.suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = target.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps([str(one) for one in paths]), "utf-8")
        fresh.replace(target)


def nearby() -> list[Path]:
    """Give logs of the working folder, the newest first."""
    found: list[tuple[float, Path]] = []
    with contextlib.suppress(OSError), os.scandir() as entries:
        for number, entry in enumerate(entries):
            if number >= SCANNED:
                break
            if Path(entry.name).suffix.lower() in SUFFIXES and entry.is_file():
                found.append((entry.stat().st_mtime, Path(entry.name)))
    return [path for _, path in sorted(found, reverse=True)[:KEPT]]
