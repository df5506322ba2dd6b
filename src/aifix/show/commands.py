"""The commands of aifix that a report names, ready to copy."""

from __future__ import annotations

from aifix.show.safe import sanitise

LAST = "<last>"
"""Stands for the output of the last failure, which the commands take where no log is named."""


def log_name(source: str) -> str:
    """Name the input as a shell would take it; LOG where it came through the pipe, and nothing where it is kept."""
    if source == LAST:
        return ""
    if source in ("", "-", "<stdin>"):
        return "LOG"
    name = sanitise(source)
    if all(character.isalnum() or character in "/._-+=:@%,\\" for character in name):
        return name
    return "'" + name.replace("'", "'\\''") + "'"


AGAIN = (
    "autograd.inplace", "autograd.nan-backward", "autograd.second-backward", "train.nan-loss", "train.grad-nonfinite", "train.loss-scale",
    "cuda.device-assert*", "cuda.illegal-*", "cuda.misaligned-*", "cuda.launch-failure", "data.worker-*", "host.segfault", "dist.nccl-timeout",
    "dist.desync",
)  # fmt: skip
"""Diagnoses whose log shows where the failure was noticed, not where it was made: a second run with instruments tells."""


def rerun_command(diagnosis: str, source: str) -> str:
    """Give the command that runs it again with instruments; nothing where the log of the first run tells all."""
    from fnmatch import fnmatchcase

    if not any(fnmatchcase(diagnosis, pattern) for pattern in AGAIN):
        return ""
    log = log_name(source)
    return f"aifix rerun --from {log} -- COMMAND" if log else "aifix rerun"


def fix_command(fix: str, source: str, other: str = "") -> str:
    """Give the command that shows a fix as a patch.

    Args:
        fix: its id: what this machine answered may have moved its number, and a command that reads the log again does not ask it.
        source: the input that was diagnosed.
        other: the diagnosis' id, where it is not the report's first.
    """
    return " ".join(filter(None, ["aifix fix", sanitise(fix), log_name(source), f"--for {sanitise(other)}" if other else ""]))
