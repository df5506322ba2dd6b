"""The tables of the history, as numbered steps: a database remembers how many of them it has been through."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

APPLICATION = 0x41494658
"""SQLite's application id of our files: "AIFX"."""

STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE environments (key TEXT PRIMARY KEY, data TEXT NOT NULL) WITHOUT ROWID",
        # What is counted and listed stands in rows of some 300 bytes; what is only read when one incident is shown stands apart in `details`.
        """CREATE TABLE incidents (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            uid TEXT NOT NULL UNIQUE,
            at REAL NOT NULL,
            host TEXT NOT NULL,
            how TEXT NOT NULL,
            origin TEXT NOT NULL,
            attempt INTEGER NOT NULL,
            command TEXT NOT NULL,
            command_key TEXT NOT NULL,
            folder TEXT NOT NULL,
            project TEXT NOT NULL,
            revision TEXT NOT NULL,
            status INTEGER,
            seconds REAL NOT NULL,
            environment TEXT NOT NULL,
            diagnosis TEXT NOT NULL,
            title TEXT NOT NULL,
            confidence REAL NOT NULL,
            fingerprint TEXT NOT NULL,
            location TEXT NOT NULL,
            ended_at REAL,
            ended TEXT NOT NULL DEFAULT '[]'
        )""",
        """CREATE TABLE details (
            number INTEGER PRIMARY KEY,
            facts TEXT NOT NULL,
            evidence TEXT NOT NULL,
            probes TEXT NOT NULL,
            fixes TEXT NOT NULL,
            also TEXT NOT NULL,
            words TEXT NOT NULL
        )""",
        # No reference to the incident's row: outcomes outlive it, and come without it from other machines.
        """CREATE TABLE outcomes (
            uid TEXT PRIMARY KEY,
            incident TEXT NOT NULL,
            diagnosis TEXT NOT NULL,
            fix TEXT NOT NULL,
            worked INTEGER NOT NULL,
            at REAL NOT NULL,
            project TEXT NOT NULL,
            note TEXT NOT NULL DEFAULT ''
        ) WITHOUT ROWID""",
        "CREATE INDEX outcomes_by_diagnosis ON outcomes (diagnosis, fix, project, worked)",
        "CREATE INDEX outcomes_by_incident ON outcomes (incident)",
        "CREATE INDEX incidents_by_fingerprint ON incidents (fingerprint, at, diagnosis, location, seconds)",
        "CREATE INDEX incidents_by_diagnosis ON incidents (diagnosis, at, seconds)",
        "CREATE INDEX incidents_by_host ON incidents (host, at, seconds)",
        "CREATE INDEX incidents_by_time ON incidents (at, seconds)",
        "CREATE INDEX incidents_pending ON incidents (command_key) WHERE ended_at IS NULL",
    ),
    (
        "CREATE VIRTUAL TABLE search USING fts5(words, content='details', content_rowid='number')",
        "INSERT INTO search(rowid, words) SELECT number, words FROM details",
        "CREATE TRIGGER details_added AFTER INSERT ON details BEGIN INSERT INTO search(rowid, words) VALUES (new.number, new.words); END",
        """CREATE TRIGGER details_removed AFTER DELETE ON details BEGIN
            INSERT INTO search(search, rowid, words) VALUES ('delete', old.number, old.words); END""",
        """CREATE TRIGGER details_changed AFTER UPDATE OF words ON details BEGIN
            INSERT INTO search(search, rowid, words) VALUES ('delete', old.number, old.words);
            INSERT INTO search(rowid, words) VALUES (new.number, new.words); END""",
    ),
)
VERSION = len(STEPS)


def version_of(connection: sqlite3.Connection) -> int:
    """Tell how many steps a database has been through."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring an older or empty database to today's form: all missing steps or none, whoever else tries the same at the same time."""
    if version_of(connection) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number in range(version_of(connection), VERSION):
            for statement in STEPS[number]:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
