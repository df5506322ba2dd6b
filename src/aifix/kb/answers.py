"""What people say about an incident: whether a fix ended it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from aifix import redact
from aifix.kb import incidents, pending

if TYPE_CHECKING:
    from aifix.kb.nouns import Incident, Outcome
    from aifix.kb.store import Store

OWN = "own"
"""Stands for a fix that no rule has; the note says which."""
LONGEST = 1000
"""Characters of a note."""


def record_outcome(store: Store, incident: Incident, fix: str, *, worked: bool, note: str = "", at: float | None = None) -> Outcome:
    """Record whether a fix ended an incident; the last word on the same incident and fix holds.

    Args:
        store: the history.
        incident: one of it.
        fix: an id of the diagnosis' fixes, or `OWN`.
        worked: whether the failure went away by it.
        note: a few words; secrets are taken out.
        at: seconds since 1970; now by default.

    Raises:
        StoreError: it cannot be written.

    """
    now = time.time() if at is None else at
    with store.writing() as connection:
        if at is None:  # the last word holds, though the clock was set back since the one before
            row = connection.execute("SELECT max(at) FROM outcomes WHERE incident = ? AND fix = ?", (incident.uid, fix)).fetchone()
            now = max(now, (row[0] or 0.0) + 0.001)
        made = incidents.outcome(incident, fix, worked=worked, at=now, note=redact.redact(note)[:LONGEST])
        incidents.put_outcomes(connection, [made])
        if worked:
            connection.execute("UPDATE incidents SET ended_at = coalesce(ended_at, ?) WHERE uid = ?", (now, incident.uid))
    if worked and incident.command_key:
        pending.clear(store.path, incident.command_key)
    return made


def unanswered(store: Store) -> Incident | None:
    """Give the last incident of which nobody has said what ended it."""
    rows = store.rows(
        "SELECT number FROM incidents WHERE NOT EXISTS (SELECT 1 FROM outcomes WHERE incident = uid AND worked = 1) ORDER BY number DESC LIMIT 1"
    )
    return incidents.get(store, rows[0]["number"]) if rows else None
