"""The file of the history: opened, brought to today's form, read and written; whatever is wrong with it is said in one line.

Only the standard library's sqlite3: a failed pipe waits for this.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from aifix.kb import schema
from aifix.kb.errors import StoreError as StoreError  # noqa: PLC0414 - for whoever imports the store anyway
from aifix.rulebase import paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

PATIENCE = 2.0
"""Seconds to wait while another process writes."""
REMOTE = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "lustre", "gpfs", "beegfs", "ceph", "fuse.sshfs", "9p", "afs", "panfs", "wekafs"})
"""File systems on which several machines may write: WAL needs memory that all writers share, so these get SQLite's classic journal."""
_PLAIN = frozenset(b"/._-~:abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


class Store:
    """An open history."""

    def __init__(self, path: str, connection: sqlite3.Connection, *, writable: bool) -> None:
        self.path = path
        self.connection = connection
        self.writable = writable

    def rows(self, query: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[sqlite3.Row]:
        """Run a query and give its rows.

        Raises:
            StoreError: the file is damaged, locked or gone.

        """
        with explained(self.path):
            return self.connection.execute(query, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for one change, which is made as a whole or not at all.

        Raises:
            StoreError: the file is read-only, full, locked, damaged or gone.

        """
        with explained(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(path: str = "", *, patience: float = PATIENCE) -> Store:
    """Open the history for reading and writing; make it where there is none.

    Args:
        path: the file; by default the one in the folder for data (AIFIX_HOME, or the platform's).
        patience: seconds to wait while another process writes.

    Raises:
        StoreError: it cannot be opened or made.

    """
    path = paths.history_file(path)
    with explained(path):
        folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120 - the pipe does without pathlib
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        fresh = not os.path.exists(path)  # noqa: PTH110
        if fresh:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # command lines and logs are nobody else's business
        connection = _connect(f"file:{_uri(path)}?mode=rw", patience)
        try:
            _refuse_foreign(path, connection)
            if schema.version_of(connection) < schema.VERSION:
                _journal(connection, path, patience)
                schema.migrate(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")  # what is removed is gone from the file
        except BaseException:
            connection.close()
            raise
        return Store(path, connection, writable=True)


def open_for_reading(path: str = "", *, patience: float = PATIENCE) -> Store | None:
    """Open the history for reading alone; None where there is none yet.

    Raises:
        StoreError: it cannot be read.

    """
    path = paths.history_file(path)
    if not os.path.exists(path):  # noqa: PTH110
        return None
    with explained(path):
        if not os.path.getsize(path):  # noqa: PTH202 - another process is making it
            return None
        for options in ("mode=ro", "immutable=1"):  # a WAL file on a read-only disk opens only as immutable
            connection = _connect(f"file:{_uri(path)}?{options}", patience)
            try:
                _refuse_foreign(path, connection)
                if schema.version_of(connection) < schema.VERSION:
                    connection.close()
                    return None if options == "immutable=1" else _migrated(path, patience)
                connection.execute("SELECT 1 FROM incidents LIMIT 1").fetchall()
            except sqlite3.OperationalError as error:
                connection.close()
                if options == "mode=ro" and ("unable to open" in str(error) or "readonly" in str(error)):
                    continue
                raise
            except BaseException:
                connection.close()
                raise
            return Store(path, connection, writable=False)
    return None


def _migrated(path: str, patience: float) -> Store:
    return open_store(path, patience=patience)


def _uri(path: str) -> str:
    """Write a path as a URI has it; `urllib.parse` would do so, and imports five modules."""
    data = os.fsencode(os.path.abspath(path).replace(os.sep, "/"))  # noqa: PTH100
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in data)


def _connect(uri: str, patience: float) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=patience, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    return connection


def _refuse_foreign(path: str, connection: sqlite3.Connection) -> None:
    """Refuse the file of a newer aifix, or of another program."""
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    version = schema.version_of(connection)
    if application != schema.APPLICATION and (application or version or connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()):
        raise StoreError(f"{path} is another program's database; name a file of its own with --kb FILE")
    if version > schema.VERSION:
        newer = f"was written by a newer aifix (form {version}, this one knows {schema.VERSION})"
        raise StoreError(f"{path} {newer}; update aifix, or name another file with --kb FILE")


def _journal(connection: sqlite3.Connection, path: str, patience: float) -> None:
    """Choose the journal of a new file: readers and a writer at once where the disk is this machine's own."""
    mode = "DELETE" if _file_system(path) in REMOTE else "WAL"
    until = time.monotonic() + patience
    while True:
        try:
            connection.execute(f"PRAGMA journal_mode = {mode}").fetchone()
        except sqlite3.OperationalError:  # SQLite does not wait here while another process does the same
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _file_system(path: str) -> str:
    """Name the file system on which a path lies, as Linux tells; '' elsewhere."""
    real = os.path.realpath(path)
    found = ("", "")
    try:
        with open("/proc/mounts", encoding="utf-8", errors="replace") as stream:  # noqa: PTH123
            for line in stream:
                parts = line.split(" ")
                if len(parts) > 2 and (real + "/").startswith(parts[1].rstrip("/") + "/") and len(parts[1]) >= len(found[0]):
                    found = (parts[1], parts[2])
    except OSError:
        return ""
    return found[1]


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Turn what SQLite and the system say of a file into one sentence for a person."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_sentence(path, error)) from error
    except OSError as error:
        raise StoreError(f"{error.filename or path} cannot be used: {error.strerror or error}") from error


def _sentence(path: str, error: sqlite3.Error) -> str:
    said = str(error)
    if "locked" in said:
        return f"{path} is locked by another process; try again"
    folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120
    if "readonly" in said or "read-only" in said or ("unable to open" in said and os.path.isdir(folder) and not os.access(folder, os.W_OK)):  # noqa: PTH112
        return f"{path} is read-only; name another file with --kb FILE, or another folder in AIFIX_HOME"
    if "full" in said:
        return f"{path} cannot grow: the disk or a quota is full"
    if "unable to open" in said:
        return f"{path} cannot be opened; name another file with --kb FILE, or another folder in AIFIX_HOME"
    if "no such module" in said:
        return f"{path} cannot be used: the SQLite of this Python has no full-text search (FTS5)"
    if "malformed" in said or "not a database" in said or "no such table" in said or "no such column" in said or "corrupt" in said:
        return f"{path} is damaged ({said}); move it away, and aifix begins a new one"
    return f"{path} cannot be used: {said}"
