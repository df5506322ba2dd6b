"""Find a job's flight-recorder dumps and read them: one file a rank, a pickle or JSON, named `<prefix><rank>`."""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from aifix import unpickle
from aifix.flight_recorder.dump import Dump, DumpError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

LARGEST = 1 << 30
"""Bytes of a dump above which it is not read."""
MOST = 100_000
"""Files of a folder that are looked at: dumps lie in /tmp by default."""
PICKLE, STOP = b"\x80", b"."
"""How a pickle of torch's begins, with the number of its protocol, 2 or higher; and how every pickle ends."""
_TELLING = re.compile(r"(?i)trace|rank|flight|(?:^|[_-])fr[_-]")
_RANK = re.compile(r"^(?P<prefix>.*?)(?P<rank>\d{1,7})(?P<ending>\.(?:json|pickle|pkl|bin|trace|dump))?$")


class Skipped(msgspec.Struct, frozen=True):
    """A file that was not read, and why."""

    file: str
    why: str


class Load(msgspec.Struct, frozen=True):
    """The dumps of a job in the order of their ranks, and what was left out."""

    dumps: tuple[Dump, ...]
    skipped: tuple[Skipped, ...]


class NoDumpsError(ValueError):
    """There is no dump where one was asked for; the message says what is there instead."""


def load(paths: Iterable[str | Path], *, prefix: str | None = None) -> Load:
    """Read the dumps in folders and files.

    Args:
        paths: a folder of dumps, or dump files.
        prefix: what stands before the rank in the files' names; by default what most of them share.

    Raises:
        NoDumpsError: none could be read.
        OSError: a named path cannot be read.

    """
    files: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        files += _in_folder(path, prefix) if path.is_dir() else [path]
    ranked: dict[int, Dump] = {}
    skipped: list[Skipped] = []
    for file in files:
        found = _RANK.match(file.name)
        if found is None:
            skipped.append(Skipped(str(file), "its name does not end in a rank, as nccl_trace_rank_3 does"))
            continue
        rank = int(found["rank"])
        try:
            dump = parse(_plain(file), rank=rank, file=str(file))
        except (DumpError, unpickle.UnpickleError) as error:
            skipped.append(Skipped(str(file), str(error)))
        except OSError as error:
            skipped.append(Skipped(str(file), f"it cannot be read: {error.strerror or error}"))
        else:
            older = ranked.get(rank)
            if older is not None and _newest(older) > _newest(dump):
                older, dump = dump, older
            if older is not None:
                skipped.append(Skipped(older.file, f"an older dump of rank {rank}"))
            ranked[rank] = dump
    if not ranked:
        raise NoDumpsError(_nothing(files, skipped))
    return Load(tuple(ranked[rank] for rank in sorted(ranked)), tuple(skipped))


def _newest(dump: Dump) -> int:
    return max((call.created or 0 for call in dump.calls), default=0)


def _in_folder(folder: Path, prefix: str | None) -> list[Path]:
    """Give the files of the prefix that was asked for, or of the likeliest: one that names a trace or a rank, that most files share."""
    by_prefix: dict[tuple[str, str], list[Path]] = {}
    for file in sorted(path for path in itertools.islice(folder.rglob("*"), MOST) if path.is_file()):
        found = _RANK.match(file.name)
        if found is not None and (prefix is None or found["prefix"] == prefix or file.name.startswith(prefix)):
            by_prefix.setdefault((found["prefix"], found["ending"] or ""), []).append(file)
    if not by_prefix:
        return []
    named = [key for key in by_prefix if _TELLING.search(key[0])]
    return by_prefix[max(named or by_prefix, key=lambda key: (len(by_prefix[key]), key))]


def _plain(file: Path) -> Any:
    size = file.stat().st_size
    if size > LARGEST:
        raise DumpError(f"it has {size} bytes; a dump has a few MB")
    data = file.read_bytes()
    if data[:1] in {b"{", b"["} or data.lstrip()[:1] == b"{":
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise DumpError(f"it is broken JSON: {error}"[:200]) from error
    if data[:1] != PICKLE and data[-1:] != STOP:
        raise DumpError("it is no flight-recorder dump: neither a pickle nor JSON" if data else "it is empty")
    return unpickle.loads(data)


def _nothing(files: list[Path], skipped: list[Skipped]) -> str:
    if not files:
        return "no flight-recorder dump is there: a dump's name ends in its rank, as nccl_trace_rank_0; name another prefix with --prefix"
    first = skipped[0]
    return f"none of {len(files)} files could be read; {first.file}: {first.why}"
