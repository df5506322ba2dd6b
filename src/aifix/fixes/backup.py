"""Applying a patch: what was there is kept first, and can be put back. Nothing is written over a file that changed meanwhile."""

from __future__ import annotations

import os
import tempfile
import time
from typing import TYPE_CHECKING

import msgspec

from aifix.fixes.patch import Refused
from aifix.fixes.source import digest_of
from aifix.rulebase.paths import state_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.fixes.patch import Change

KEPT = 50
"""Patches that can be undone; older backups are removed."""


class Entry(msgspec.Struct, frozen=True):
    """One file of an applied patch: hashes of what was there and of what was written; `backup` is the copy's name in the folder."""

    path: str
    before: str
    after: str
    backup: str


class Applied(msgspec.Struct, frozen=True):
    """An applied patch, as it is kept."""

    name: str
    time: float
    files: tuple[Entry, ...]
    folder: str = ""


def apply(name: str, changes: Sequence[Change]) -> Applied:
    """Write a patch, after keeping what is there.

    Raises:
        Refused: a file reads differently than when the patch was made; nothing was written then.
        OSError: a file cannot be written; those written before are put back.

    """
    old = [(change, change.before.encode()) for change in changes]
    for change, data in old:
        if _read(change.path) != data:
            raise Refused(f"{change.path} has changed since the diff was made")
    folder = _new_folder(name)
    entries = []
    for number, (change, data) in enumerate(old):
        backup = f"{number}-{os.path.basename(change.path)}"
        _write(os.path.join(folder, backup), data)
        entries.append(Entry(os.path.abspath(change.path), digest_of(data), digest_of(change.after.encode()), backup))
    applied = Applied(name, time.time(), tuple(entries), folder)
    _write(os.path.join(folder, "patch.json"), msgspec.json.encode(applied))
    written: list[tuple[str, bytes]] = []
    try:
        for change, data in old:
            _write(change.path, change.after.encode())
            written.append((change.path, data))
    except OSError:
        for path, data in written:
            _write(path, data)
        _discard(folder)
        raise
    _prune()
    return applied


def undo() -> Applied:
    """Put back what the last patch changed.

    Raises:
        Refused: there is none, or a file changed since; nothing was written then.
        OSError: a file cannot be written.

    """
    patches = listed()
    if not patches:
        raise Refused("no patch of aifix is there to undo")
    last = patches[-1]
    restored = []
    for entry in last.files:
        data = _read(os.path.join(last.folder, entry.backup))
        now = _read(entry.path)
        if data is None or digest_of(data) != entry.before:
            raise Refused(f"the backup of {entry.path} in {last.folder} is damaged")
        if now is None or digest_of(now) not in {entry.after, entry.before}:
            raise Refused(f"{entry.path} has changed since the patch; what was there before it lies in {os.path.join(last.folder, entry.backup)}")
        restored.append((entry.path, data))
    for path, data in restored:
        _write(path, data)
    _discard(last.folder)
    return last


def listed() -> list[Applied]:
    """Give the patches that can be undone, the last one last."""
    found = []
    root = _root()
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return []
    for name in names:
        data = _read(os.path.join(root, name, "patch.json"))
        try:
            applied = msgspec.json.decode(data or b"", type=Applied)
        except msgspec.MsgspecError:
            continue
        found.append(msgspec.structs.replace(applied, folder=os.path.join(root, name)))
    return found


def written_by_us(path: str, digest: str) -> bool:
    """Tell whether a file reads as one of our patches, or the undoing of one, left it."""
    return any(entry.path == path and entry.after == digest for applied in listed() for entry in applied.files)


def remember_shown(key: str, digests: dict[str, str]) -> None:
    """Remember how the files read when a diff was shown."""
    path = os.path.join(state_folder(), "shown.json")
    shown = _shown()
    shown.pop(key, None)
    shown[key] = digests
    os.makedirs(os.path.dirname(path), exist_ok=True)
    _write(path, msgspec.json.encode(dict(list(shown.items())[-KEPT:])))


def changed_since_shown(key: str, digests: dict[str, str]) -> list[str]:
    """Name the files that read differently than when this diff was last shown."""
    return [path for path, digest in _shown().get(key, {}).items() if path in digests and digests[path] != digest]


def _shown() -> dict[str, dict[str, str]]:
    try:
        return msgspec.json.decode(_read(os.path.join(state_folder(), "shown.json")) or b"{}", type=dict[str, dict[str, str]])
    except msgspec.MsgspecError:
        return {}


def _root() -> str:
    return os.path.join(state_folder(), "patches")


def _new_folder(name: str) -> str:
    root = _root()
    os.makedirs(root, mode=0o700, exist_ok=True)
    stamps = (name.partition("-")[0] for name in os.listdir(root))
    last = max((int(stamp) for stamp in stamps if stamp.isdecimal()), default=0)
    now = max(time.time_ns(), last + 1)  # the last one is undone first, though the clock was set back since
    return tempfile.mkdtemp(prefix=f"{now:020d}-{name}-", dir=root)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return None


def _write(path: str, data: bytes) -> None:
    """Write a file whole or not at all, with the mode it had; through a link to where it leads."""
    path = os.path.realpath(path)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".aifix-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        if os.path.exists(path):
            os.chmod(temporary, os.stat(path).st_mode & 0o7777)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def _discard(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _prune() -> None:
    for applied in listed()[:-KEPT]:
        _discard(applied.folder)
