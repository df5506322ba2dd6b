"""The commands of aifix that a report names, ready to copy."""

from __future__ import annotations

from aifix.show.safe import sanitise


def log_name(source: str) -> str:
    """Name the input as a shell would take it; LOG where it came through the pipe."""
    if source in ("", "-", "<stdin>"):
        return "LOG"
    name = sanitise(source)
    if all(character.isalnum() or character in "/._-+=:@%,\\" for character in name):
        return name
    return "'" + name.replace("'", "'\\''") + "'"


def fix_command(number: int, source: str, other: str = "") -> str:
    """Give the command that shows a fix as a patch.

    Args:
        number: the fix's number in its diagnosis.
        source: the input that was diagnosed.
        other: the diagnosis' id, where it is not the report's first.
    """
    return f"aifix fix {number} {log_name(source)}" + (f" --for {sanitise(other)}" if other else "")
