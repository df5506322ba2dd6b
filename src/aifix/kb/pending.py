"""Which commands failed and have not ended well since: an empty file for each, beside the history.

A healthy pipe lists that folder and is done where it is empty or missing; it opens no database. This module imports next to nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aifix.kb.keys import command_key
from aifix.rulebase.paths import pending_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.probes.producer import Producer

MOST = 400
"""Marks that are kept; the oldest go first."""


def mark(database: str, key: str) -> None:
    """Mark a command as failed. Raises OSError."""
    folder = pending_folder(database)
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - the pipe does without pathlib
    names = os.listdir(folder)  # noqa: PTH208
    if len(names) >= MOST:
        paths = [os.path.join(folder, name) for name in names]  # noqa: PTH118
        for path in sorted(paths, key=_age)[: len(paths) - MOST // 2]:
            _remove(path)
    os.close(os.open(os.path.join(folder, key), os.O_CREAT | os.O_WRONLY, 0o600))  # noqa: PTH118


def waiting(database: str, key: str) -> bool:
    """Tell whether a command is marked."""
    return bool(key) and os.path.exists(os.path.join(pending_folder(database), key))  # noqa: PTH110, PTH118


def clear(database: str, key: str) -> None:
    """Take a mark away."""
    _remove(os.path.join(pending_folder(database), key))  # noqa: PTH118


def command_of(producers: Sequence[Producer]) -> tuple[tuple[str, ...], str]:
    """Give the command line and working folder of the run that feeds the pipe: the Python nearest to us, or else the pipeline's head."""
    if not producers:
        return (), ""
    pythons = [one for one in producers if "python" in os.path.basename(one.exe)]  # noqa: PTH119
    chosen = pythons[0] if pythons else producers[-1]
    return tuple(part.decode("utf-8", "surrogateescape") for part in chosen.argv.split(b"\0")[:-1]), chosen.cwd


def key_of_producers(producers: Sequence[Producer]) -> str:
    """Give the key of the run that feeds the pipe; '' where it was not seen."""
    arguments, folder = command_of(producers)
    return command_key(arguments, folder) if arguments else ""


def _age(path: str) -> float:
    try:
        return os.stat(path).st_mtime  # noqa: PTH116
    except OSError:
        return 0.0


def _remove(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108
    except OSError:
        return
