"""The user's own files at a failure: found, read, compared with what the log says of them. Nothing is imported or run."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aifix.model import Document, Fact, Frame

LARGEST = 2 << 20
"""Bytes of a source file; a larger one is not read."""
FILES = 8
"""Files of one failure that are read."""
SLACK = 1.0
"""Seconds by which a source may be newer than its log: clocks of file systems are coarse."""
NEAR = 200
"""Lines around a failure in which tracebacks without it count, too: the loop that called the worker which failed."""


class SourceFile(msgspec.Struct, frozen=True):
    """A file of the user's as it is now, with the lines at which the log's tracebacks stand in it, innermost first."""

    name: str
    path: str
    data: bytes
    lines: tuple[int, ...] = ()
    functions: tuple[str, ...] = ()
    changed: int = 0
    mtime: float = 0.0

    @property
    def text(self) -> str:
        """The text; raises UnicodeDecodeError where it is not UTF-8."""
        return self.data.decode("utf-8-sig")

    @property
    def digest(self) -> str:
        """A hash of the content."""
        return digest_of(self.data)


def digest_of(data: bytes) -> str:
    """Give the hash by which a file is known again."""
    import hashlib

    return hashlib.blake2b(data, digest_size=16).hexdigest()


def find(document: Document, at: Iterable[int], folders: Sequence[str] = ()) -> list[SourceFile]:
    """Find the user's files in the tracebacks of a failure, the innermost frame's first.

    Args:
        document: the log.
        at: indices of the lines that say the failure.
        folders: where relative names may start, in order; the working folder is always the last.

    """
    frames: dict[str, list[Frame]] = {}
    for frame in _frames(document, sorted(at)):
        if frame.user and frame.file.endswith((".py", ".pyw")):
            frames.setdefault(frame.file, []).append(frame)
    found: list[SourceFile] = []
    for name, listed in list(frames.items())[:FILES]:
        source = read(name, folders)
        if source is not None:
            found.append(_compared(source, listed))
    return found


def read(name: str, folders: Sequence[str] = ()) -> SourceFile | None:
    """Read a source file; None where it is missing, no regular file or too large. A name in a log may be anything: it is opened with care."""
    places = [name] if os.path.isabs(name) else [os.path.join(folder, name) for folder in (*folders, os.getcwd())]
    for path in places:
        try:
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        except (OSError, ValueError):
            continue
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
            os.close(handle)
            continue
        with os.fdopen(handle, "rb") as stream:
            return SourceFile(name, os.path.abspath(path), stream.read(LARGEST), mtime=state.st_mtime)
    return None


def facts(sources: Sequence[SourceFile], document: Document, argv: Sequence[str] = ()) -> dict[str, Fact]:
    """Read values off the sources and the command line, marked with where they stand.

    Args:
        sources: the user's files that read as the log says.
        document: the log, in which the command may stand.
        argv: the command, where the process is known.

    """
    from aifix.fixes import command_line

    called = command_line.read(document, argv)
    found: dict[str, Fact] = {}
    for source in sources:
        if not source.changed:
            from aifix.fixes import values

            for name, fact in values.read(source, called.options).items():
                found.setdefault(name, fact)
    for name, fact in called.facts.items():
        found.setdefault(name, fact)
    return found


def note(text: str) -> Fact:
    """Make a fact of a remark about the sources."""
    from aifix.model import Fact

    return Fact(text, text, None, "source")


def newer(mtime: float, log: str) -> bool:
    """Tell whether a source was saved after a log was made; false where the log is no file."""
    if log in {"", "-", "<stdin>"}:
        return False
    try:
        return mtime > os.stat(log).st_mtime + SLACK
    except OSError:
        return False


def _frames(document: Document, at: list[int]) -> list[Frame]:
    """Give the frames of the tracebacks at a failure, innermost first; its own tracebacks before those around it."""
    if not at:
        return []
    own, around = [], []
    for item in document.tracebacks:
        if any(item.start <= index < item.end for index in at):
            own.append(item)
        elif item.start <= at[-1] + NEAR and item.end >= at[0] - NEAR:
            around.append(item)
    ranks = {item.rank for item in own}
    around = [item for item in around if not own or item.rank in ranks]
    own.sort(key=lambda item: (item.relation != "worker", -item.start))
    return [frame for item in (*own, *around) for frame in reversed(item.frames)]


def _compared(source: SourceFile, frames: Sequence[Frame]) -> SourceFile:
    """Compare the lines of the frames with the file's; a log that shows no source lines cannot tell, and is believed."""
    lines = source.data.decode("utf-8-sig", "replace").splitlines()
    changed = 0
    for frame in frames:
        now = lines[frame.line - 1] if 0 < frame.line <= len(lines) else None
        if now is None or (frame.source.strip() and not _same(now, frame.source)):
            changed = changed or frame.line
    numbers = tuple(dict.fromkeys(frame.line for frame in frames))
    functions = tuple(dict.fromkeys(frame.function for frame in frames))
    return msgspec.structs.replace(source, lines=numbers, functions=functions, changed=changed)


def _same(now: str, then: str) -> bool:
    """Tell whether a line reads as in the log, where it may be cut or wrapped."""
    now, then = "".join(now.split()), "".join(then.split())
    then = then.removesuffix("...").removesuffix("…")
    return now == then or (len(then) >= 12 and now.startswith(then))
