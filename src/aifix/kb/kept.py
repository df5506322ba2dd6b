"""The output of the last failure, kept beside the history without its secrets: `aifix why` and `aifix fix 2` need no log then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.kb.cleaner import Cleaner
    from aifix.kb.nouns import Incident

START, END = 256 << 10, 768 << 10
"""Bytes that are kept of the start and of the end of what a diagnosis can need; what lies between goes."""


class Kept(msgspec.Struct, frozen=True):
    """The output of a failure: its number in the history, its command and folder, its diagnosis, and blocks with the number of their first line.

    `fixes` are the ids of the fixes in the order in which the report showed them.
    """

    number: int
    at: float
    command: str
    folder: str
    diagnosis: str
    fixes: tuple[str, ...]
    blocks: tuple[tuple[int, bytes], ...]
    file: str = ""
    """Where it is kept."""


def file_of(database: str) -> str:
    """Give the file that is kept beside a history."""
    return f"{database}.last"


def keep(database: str, incident: Incident, blocks: Sequence[tuple[int, bytes]], cleaner: Cleaner) -> None:
    """Keep the output of a failure in place of that of the one before.

    Args:
        database: the history.
        incident: the failure, as it was stored.
        blocks: its output, each block with the number of its first line.
        cleaner: knows its secrets.

    Raises:
        OSError: it cannot be written.

    """
    cleaned = tuple((first, _cleaned(block, cleaner)) for first, block in _ends(blocks))
    kept = Kept(incident.number, incident.at, incident.command, incident.folder, incident.diagnosis, tuple(fix.id for fix in incident.fixes), cleaned)
    path = file_of(database)
    temporary = f"{path}.{os.getpid()}"
    handle = os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(msgspec.msgpack.encode(kept))
    os.replace(temporary, path)  # noqa: PTH105 - the pipe does without pathlib


def last(database: str) -> Kept | None:
    """Give what is kept; None where nothing is, or nothing that can be read."""
    try:
        with open(file_of(database), "rb") as stream:  # noqa: PTH123
            return msgspec.structs.replace(msgspec.msgpack.decode(stream.read(), type=Kept), file=file_of(database))
    except (OSError, msgspec.DecodeError):
        return None


def forget(database: str, numbers: Sequence[int] | None = None) -> None:
    """Remove what is kept, where it is of one of some failures (of any without them).

    Raises:
        OSError: it cannot be removed.

    """
    kept = last(database)
    if kept is not None and (numbers is None or kept.number in numbers):
        os.unlink(file_of(database))  # noqa: PTH108


def _ends(blocks: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Give blocks whole where they are few bytes, else their start and their end, cut at line ends."""
    if sum(len(block) for _, block in blocks) <= START + END:
        return [(first, bytes(block)) for first, block in blocks]
    head: list[tuple[int, bytes]] = []
    room = START
    for first, block in blocks:
        part = block if len(block) <= room else block[: block.rfind(b"\n", 0, room) + 1]
        head.append((first, bytes(part)))
        room -= len(block)
        if room <= 0:
            break
    tail: list[tuple[int, bytes]] = []
    room = END
    for first, block in reversed(blocks):
        begin = 0 if len(block) <= room else block.find(b"\n", len(block) - room) + 1
        tail.append((first + block.count(b"\n", 0, begin), bytes(block[begin:])))
        room -= len(block)
        if room <= 0:
            break
    return [item for item in (*head, *reversed(tail)) if item[1]]


def _cleaned(block: bytes, cleaner: Cleaner) -> bytes:
    """Take the secrets out, and leave each line where it is."""
    return cleaner.lines(block.decode("utf-8", "replace")).encode("utf-8", "replace")
