"""Write incidents, find them again, and remove them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from aifix.kb.keys import key_of
from aifix.kb.nouns import Cited, Environment, Incident, Noted, Offered, Outcome, Probed

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from aifix.kb.store import Store

_PLAIN = (
    "uid", "at", "host", "how", "origin", "attempt", "command", "command_key", "folder", "project", "revision", "status", "seconds", "environment",
    "diagnosis", "title", "confidence", "fingerprint", "location", "ended_at", "ended",
)  # fmt: skip
_DETAILS = ("facts", "evidence", "probes", "fixes", "also")
_INSERT = f"INSERT INTO incidents ({', '.join(_PLAIN)}) VALUES ({', '.join('?' * len(_PLAIN))})"  # noqa: S608 - names of our own columns
_LISTED = f"SELECT number, {', '.join(_PLAIN)} FROM incidents"  # noqa: S608
_WHOLE = (
    f"SELECT incidents.number, {', '.join(_PLAIN)}, {', '.join(_DETAILS)}, environments.data FROM incidents"  # noqa: S608
    " LEFT JOIN details ON details.number = incidents.number LEFT JOIN environments ON environments.key = incidents.environment"
)
_TYPES: dict[str, Any] = {
    "facts": dict[str, Noted],
    "evidence": tuple[Cited, ...],
    "probes": tuple[Probed, ...],
    "fixes": tuple[Offered, ...],
    "also": tuple[str, ...],
}


def add(store: Store, incident: Incident) -> int:
    """Write an incident and give its number; one that is there already keeps its number and stays as it is.

    Raises:
        StoreError: it cannot be written.

    """
    with store.writing() as connection:
        return insert(connection, incident)


def insert(connection: sqlite3.Connection, incident: Incident) -> int:
    """Write an incident within a change that is under way."""
    known = connection.execute("SELECT number FROM incidents WHERE uid = ?", (incident.uid,)).fetchone()
    if known is not None:
        return int(known["number"])
    data = _json(incident.environment)
    environment = key_of(data)
    connection.execute("INSERT OR IGNORE INTO environments (key, data) VALUES (?, ?)", (environment, data))
    values = [getattr(incident, name) for name in _PLAIN]
    values[_PLAIN.index("environment")] = environment
    values[_PLAIN.index("ended")] = _json(incident.ended)
    number = int(connection.execute(_INSERT, values).lastrowid or 0)
    details = [_json(getattr(incident, name)) for name in _DETAILS]
    connection.execute(
        "INSERT INTO details (number, facts, evidence, probes, fixes, also, words) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (number, *details, words_of(incident)),
    )
    return number


def words_of(incident: Incident) -> str:
    """Give the text in which an incident is searched."""
    facts = (f"{name} {fact.text}" for name, fact in incident.facts.items())
    parts = [
        incident.diagnosis, incident.title, incident.command, incident.folder, incident.location, incident.host,
        *facts, *(item.text for item in incident.evidence), *incident.also,
    ]  # fmt: skip
    return "\n".join(part for part in parts if part)


def get(store: Store, number: int) -> Incident | None:
    """Give an incident with everything that is known of it; None when there is none of that number."""
    rows = store.rows(f"{_WHOLE} WHERE incidents.number = ?", (number,))
    return _incident(rows[0]) if rows else None


def by_uid(store: Store, uid: str) -> Incident | None:
    """Give an incident by the name that it keeps in every history it is merged into."""
    rows = store.rows(f"{_WHOLE} WHERE incidents.uid = ?", (uid,))
    return _incident(rows[0]) if rows else None


def everything(store: Store) -> Iterable[Incident]:
    """Give all incidents, oldest first, a thousand at a time."""
    after = 0
    while rows := store.rows(f"{_WHOLE} WHERE incidents.number > ? ORDER BY incidents.number LIMIT 1000", (after,)):
        yield from map(_incident, rows)
        after = rows[-1]["number"]


def recent(store: Store, limit: int = 20) -> list[Incident]:
    """Give the last incidents, newest first, without facts, evidence, probes and fixes."""
    return [_incident(row) for row in store.rows(f"{_LISTED} ORDER BY number DESC LIMIT ?", (limit,))]


def find(store: Store, text: str, limit: int = 20) -> list[Incident]:
    """Find incidents that hold all words of a text (the last one may be cut), newest first."""
    words = text.split()
    if not words:
        return recent(store, limit)
    query = " ".join('"' + word.replace('"', '""') + '"' for word in words) + "*"
    inner = "SELECT rowid FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?"
    return [_incident(row) for row in store.rows(f"{_LISTED} WHERE number IN ({inner}) ORDER BY number DESC", (query, limit))]


def alike(store: Store, fingerprint: str, limit: int = 50) -> list[Incident]:
    """Give the incidents of one fingerprint, newest first, without their details."""
    return [_incident(row) for row in store.rows(f"{_LISTED} WHERE fingerprint = ? ORDER BY at DESC LIMIT ?", (fingerprint, limit))]


def pending(store: Store, command_key: str) -> list[Incident]:
    """Give the incidents of a command that has not ended well since, newest first."""
    query = f"{_WHOLE} WHERE command_key = ? AND ended_at IS NULL ORDER BY incidents.number DESC LIMIT 20"
    return [_incident(row) for row in store.rows(query, (command_key,))]


def end(store: Store, numbers: Iterable[int], *, at: float, changes: Sequence[str]) -> None:
    """Note that the command of some incidents has ended well, and what had changed since."""
    with store.writing() as connection:
        connection.executemany("UPDATE incidents SET ended_at = ?, ended = ? WHERE number = ?", [(at, _json(changes), number) for number in numbers])


def remove(store: Store, numbers: Sequence[int]) -> int:
    """Remove incidents and give how many there were. What they taught stays, without its notes."""
    removed = 0
    with store.writing() as connection:
        for number in numbers:
            row = connection.execute("SELECT uid FROM incidents WHERE number = ?", (number,)).fetchone()
            if row is None:
                continue
            connection.execute("UPDATE outcomes SET note = '' WHERE incident = ?", (row["uid"],))
            connection.execute("DELETE FROM details WHERE number = ?", (number,))
            connection.execute("DELETE FROM incidents WHERE number = ?", (number,))
            removed += 1
        connection.execute("DELETE FROM environments WHERE key NOT IN (SELECT environment FROM incidents)")
        connection.execute("INSERT INTO search (search) VALUES ('optimize')")  # its words leave the index only so
    return removed


def remove_all(store: Store) -> int:
    """Remove everything, outcomes too, also from the file's free pages; gives how many incidents there were."""
    with store.writing() as connection:
        count = int(connection.execute("SELECT count(*) FROM incidents").fetchone()[0])
        for table in ("details", "incidents", "environments", "outcomes"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a name of our own
        connection.execute("INSERT INTO search (search) VALUES ('delete-all')")
    store.rows("VACUUM")
    return count


# ---------------------------------------------------------------- outcomes


def outcome(incident: Incident, fix: str, *, worked: bool, at: float, note: str = "") -> Outcome:
    """Say whether a fix ended an incident."""
    uid = key_of("outcome", incident.uid, fix)
    return Outcome(uid=uid, incident=incident.uid, diagnosis=incident.diagnosis, fix=fix, worked=worked, at=at, project=incident.project, note=note)


def put_outcomes(connection: sqlite3.Connection, outcomes: Iterable[Outcome]) -> int:
    """Write outcomes within a change that is under way; of two about the same incident and fix the later one holds. Gives how many changed."""
    query = (
        "INSERT INTO outcomes (uid, incident, diagnosis, fix, worked, at, project, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (uid) DO UPDATE SET worked = excluded.worked, at = excluded.at,"
        " note = CASE excluded.note WHEN '' THEN note ELSE excluded.note END WHERE excluded.at > at"
    )
    changed = 0
    for one in outcomes:
        values = (one.uid, one.incident, one.diagnosis, one.fix, int(one.worked), one.at, one.project, one.note)
        changed += connection.execute(query, values).rowcount
    return changed


def outcomes(store: Store, incident: str | None = None) -> list[Outcome]:
    """Give the outcomes of an incident, or all, oldest first."""
    where = "" if incident is None else " WHERE incident = ?"
    rows = store.rows(f"SELECT * FROM outcomes{where} ORDER BY at, uid", () if incident is None else (incident,))  # noqa: S608
    return [Outcome(**{**dict(row), "worked": bool(row["worked"])}) for row in rows]


# ---------------------------------------------------------------- rows


def _incident(row: sqlite3.Row) -> Incident:
    names = row.keys()
    known = {name: row[name] for name in (*_PLAIN, "number") if name != "environment"}
    known["ended"] = _read(row["ended"], tuple[str, ...])
    if "facts" in names:
        known |= {name: _read(row[name], _TYPES[name]) for name in _DETAILS}
        known["environment"] = _read(row["data"], Environment)
    return Incident(**known)


def _read(text: str | None, kind: Any) -> Any:
    """Decode a column; what somebody damaged by hand is empty."""
    try:
        return msgspec.json.decode(text or "", type=kind)
    except msgspec.MsgspecError:
        return kind() if isinstance(kind, type) else getattr(kind, "__origin__", dict)()


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (UnicodeEncodeError, OverflowError):  # a lone surrogate, an integer beyond 64 bits: not msgspec's
        import json

        return json.dumps(msgspec.to_builtins(value), default=str).encode("utf-8", "replace").decode()
