"""What fails most, where, what it cost, and what helped."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from aifix.kb.store import Store

WEEK = 7 * 86400
WEEKS = 26
"""Weeks that are counted one by one, to this one."""

_GROUPED = "count(*) AS count, total(seconds) AS seconds, max(at) AS last FROM incidents GROUP BY"
_ORDERED = "ORDER BY count DESC, last DESC LIMIT ?"
_BY_DIAGNOSIS = f"SELECT diagnosis AS name, {_GROUPED} diagnosis {_ORDERED}"
_BY_PLACE = f"SELECT location AS name, diagnosis, {_GROUPED} fingerprint {_ORDERED}"
_BY_HOST = f"SELECT host AS name, {_GROUPED} host {_ORDERED}"


class Group(msgspec.Struct, frozen=True):
    """Incidents that have something in common: how many, the seconds that their runs took, and when the last one was."""

    name: str
    count: int
    seconds: float
    last: float
    diagnosis: str = ""


class Helped(msgspec.Struct, frozen=True):
    """How often a fix was tried against a diagnosis, and how often it worked."""

    diagnosis: str
    fix: str
    worked: int
    tried: int


class Statistics(msgspec.Struct, frozen=True):
    """The whole history in figures. `weeks` counts incidents by week, the last one being this week; times in seconds since 1970."""

    count: int
    seconds: float
    first: float
    last: float
    ended: int
    diagnoses: tuple[Group, ...]
    places: tuple[Group, ...]
    hosts: tuple[Group, ...]
    weeks: tuple[int, ...]
    fixes: tuple[Helped, ...]


def statistics(store: Store, *, most: int = 10, now: float | None = None) -> Statistics:
    """Count a history.

    Args:
        store: the history.
        most: groups of each kind, the largest ones.
        now: seconds since 1970.

    """
    now = time.time() if now is None else now
    whole = store.rows("SELECT count(*) AS count, total(seconds) AS seconds, min(at) AS first, max(at) AS last FROM incidents")[0]
    pending = store.rows("SELECT count(*) FROM incidents WHERE ended_at IS NULL")[0][0]
    diagnoses, places, hosts = (store.rows(query, (most,)) for query in (_BY_DIAGNOSIS, _BY_PLACE, _BY_HOST))
    since = now - WEEKS * WEEK
    ago = store.rows(
        "SELECT CAST((? - at) / ? AS INTEGER) AS ago, count(*) AS count FROM incidents WHERE at > ? AND at <= ? GROUP BY ago", (now, WEEK, since, now)
    )
    by_week = {row["ago"]: row["count"] for row in ago}
    fixes = store.rows(
        "SELECT diagnosis, fix, sum(worked) AS worked, count(*) AS tried FROM outcomes GROUP BY diagnosis, fix"
        " ORDER BY worked DESC, tried DESC, diagnosis, fix LIMIT ?",
        (most,),
    )
    return Statistics(
        count=whole["count"],
        seconds=whole["seconds"],
        first=whole["first"] or 0.0,
        last=whole["last"] or 0.0,
        ended=whole["count"] - pending,
        diagnoses=tuple(Group(row["name"], row["count"], row["seconds"], row["last"]) for row in diagnoses),
        places=tuple(Group(row["name"], row["count"], row["seconds"], row["last"], row["diagnosis"]) for row in places),
        hosts=tuple(Group(row["name"], row["count"], row["seconds"], row["last"]) for row in hosts),
        weeks=tuple(by_week.get(number, 0) for number in reversed(range(WEEKS))),
        fixes=tuple(Helped(row["diagnosis"], row["fix"], row["worked"], row["tried"]) for row in fixes),
    )
