"""Fixes that were copied or applied, of which nobody has said yet whether they helped; kept from one session to the next."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

import msgspec

from aifix_tui import recent

if TYPE_CHECKING:
    from pathlib import Path

KEPT = 6
OLDEST = 30 * 24 * 3600.0
"""Seconds after which nobody is asked any more."""


class Tried(msgspec.Struct, frozen=True):
    """A fix that somebody took to try: for which failure of the history, and when, in seconds since 1970."""

    incident: int
    uid: str
    fix: str
    title: str
    failure: str
    at: float


def waiting() -> list[Tried]:
    """Give those that wait for an answer, the last one first."""
    try:
        listed = msgspec.json.decode(_store().read_bytes(), type=list[Tried])
    except (OSError, msgspec.MsgspecError):
        return []
    return [one for one in listed if one.at > time.time() - OLDEST]


def note(tried: Tried) -> None:
    """Put one at the head."""
    _write([tried, *[one for one in waiting() if (one.uid, one.fix) != (tried.uid, tried.fix)]][:KEPT])


def forget(uid: str, fix: str) -> None:
    """Ask no more about one."""
    before = waiting()
    after = [one for one in before if (one.uid, one.fix) != (uid, fix)]
    if after != before:
        _write(after)


def _store() -> Path:
    return recent.store().with_name("tried.json")


def _write(listed: list[Tried]) -> None:
    target = _store()
    with contextlib.suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = target.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(msgspec.json.encode(listed))
        fresh.replace(target)
