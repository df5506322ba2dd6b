"""When two failures are the same: diagnosis, the user's own frame, and the facts that name things rather than measure them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aifix.kb.keys import key_of
from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.model import Fact, Location

# fmt: off
_PASSING = frozenset((
    "rank", "ranks", "worker", "pid", "process", "host", "node", "port", "address", "ip", "device", "gpu", "card", "step", "epoch", "progress",
    "time", "elapsed", "line", "attempt", "world", "exit", "exception", "python", "command", "version", "user", "url", "job", "container", "pod",
))
# fmt: on
"""Words in the names of facts that differ from run to run of the same bug."""
_NUMBERS = lazy_re(r"0x[0-9a-fA-F]+|\b[0-9a-f]{8,}\b|\d+(?:\.\d+)*")
_TEMPORARY = lazy_re(r"/(?:tmp|var/tmp|dev/shm|proc)/\S+")


def fingerprint(diagnosis: str, location: Location | None, facts: Mapping[str, Fact], *, folder: str = "", message: str = "") -> str:
    """Give the key under which the same failure is met again.

    Lines move when code is edited, and sizes, ranks, steps and addresses differ from run to run: they count nothing. What a
    message names (a key, a module, a dtype, a shape, a library) counts.

    Args:
        diagnosis: the rule's id.
        location: the innermost frame of the user's code.
        facts: those of the diagnosis.
        folder: the working folder, below which files are named relatively.
        message: the message of a failure that no rule knows.

    """
    named = [f"{name}={_plain(name, fact)}" for name, fact in sorted(facts.items()) if _matters(name, fact)]
    return key_of("failure", diagnosis, place(location, folder), skeleton(message), *named)


def place(location: Location | None, folder: str = "") -> str:
    """Name the user's frame so that it stays the same when lines move: file below the working folder, and function."""
    if location is None:
        return ""
    file = location.file
    if folder and os.path.isabs(file) and file.startswith(folder.rstrip(os.sep) + os.sep):  # noqa: PTH117 - the pipe does without pathlib
        file = file[len(folder.rstrip(os.sep)) + 1 :]
    elif os.path.isabs(file):  # noqa: PTH117
        file = "/".join(file.rsplit(os.sep, 2)[-2:])  # the same code at another place
    return f"{file} in {location.function}" if location.function else file


def skeleton(message: str) -> str:
    """Give a message without what varies: numbers, addresses, temporary paths."""
    first = message.strip().partition("\n")[0][:400]
    return " ".join(_NUMBERS.sub("#", _TEMPORARY.sub("/...", first)).split())


def _matters(name: str, fact: Fact) -> bool:
    if fact.origin or fact.unit or not _PASSING.isdisjoint(name.split("_")):
        return False
    return isinstance(fact.value, (str, list, tuple))


def _plain(name: str, fact: Fact) -> str:
    text = str(fact.value)
    return skeleton(text) if "/" in text or len(text) > 60 or "message" in name else text
