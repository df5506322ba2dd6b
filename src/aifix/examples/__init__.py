"""Logs of failed runs to try aifix on: `cat "$(python -m aifix.examples cuda-oom)" | aifix`."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """List the bundled examples."""
    return sorted(path.stem for path in FOLDER.glob("*.log"))


def path(name: str) -> Path:
    """Find a bundled example.

    Raises:
        KeyError: There is none of this name.
    """
    found = FOLDER / f"{name}.log"
    if name not in names():
        raise KeyError(name)
    return found
