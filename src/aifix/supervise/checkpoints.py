"""The newest checkpoint in a folder that is whole: the last one may have been cut by the failure."""

from __future__ import annotations

import os
import re
import stat
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

ENDINGS = (".pt", ".pth", ".ckpt", ".safetensors", ".h5", ".hdf5", ".keras", ".distcp")
WEAK = (".bin", ".npz", ".msgpack", ".pkl", ".tar", ".index")
"""Endings that many other files have: believed where nothing else is there."""
_FOLDER = re.compile(r"(?i)^(?:checkpoint|ckpt|global_?step|step|epoch|iter|last|best)[-_=.]?\w*|.*\.(?:ckpt|orbax|distcp)$")
_TEMPORARY = re.compile(r"(?i)(?:^\.|^tmp|[._-](?:tmp|temp|partial|incomplete|part)(?:[._-]|$)|~$|\.orbax-checkpoint-tmp)")
_PART = re.compile(r"(?i)^(?:training_args|optimizer|scheduler|scaler|rng_state|random_states)\b|^events\.")
"""What lies beside a checkpoint, and is none."""
DEPTH = 2
MOST = 5000


_Candidate = tuple[bool, float, tuple[int, ...], str]
"""Surely a checkpoint, when it was written, the numbers in its name, its path."""


class Found(NamedTuple):
    """The newest whole checkpoint, and the newer ones that were passed over because they are cut."""

    path: str
    cut: tuple[str, ...]


def newest(folder: str) -> Found:
    """Find the newest whole checkpoint; an empty path where there is none."""
    candidates: list[_Candidate] = []
    _collect(os.path.abspath(os.path.expanduser(folder)), candidates, DEPTH)
    cut: list[str] = []
    for _, _, _, path in sorted(candidates, reverse=True):
        if _whole(path):
            return Found(path, tuple(cut))
        cut.append(path)
    return Found("", tuple(cut))


def _collect(folder: str, found: list[_Candidate], depth: int) -> None:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if len(found) >= MOST or _TEMPORARY.search(entry.name) or _PART.search(entry.name):
            continue
        try:
            info = entry.stat()
        except OSError:
            continue
        numbers = tuple(int(word) for word in re.findall(r"\d+", entry.name)[:4])
        if stat.S_ISDIR(info.st_mode):
            if _FOLDER.match(entry.name):
                times = [moment for moment, _ in _files(entry.path)]
                if times:
                    found.append((True, max(times), numbers, entry.path))
            elif depth > 1:
                _collect(entry.path, found, depth - 1)
        elif entry.name.lower().endswith(ENDINGS + WEAK):
            found.append((entry.name.lower().endswith(ENDINGS), info.st_mtime, numbers, entry.path))


def _files(folder: str) -> list[tuple[float, str]]:
    found = []
    for place, _, names in os.walk(folder):
        for name in names[:MOST]:
            path = os.path.join(place, name)
            try:
                found.append((os.stat(path).st_mtime, path))
            except OSError:
                continue
    return found


def _whole(path: str) -> bool:
    """Tell whether a checkpoint looks complete, as far as its format shows."""
    if os.path.isdir(path):
        files = [file for _, file in _files(path)]
        return bool(files) and not any(_TEMPORARY.search(os.path.basename(file)) for file in files) and all(map(_whole, files))
    try:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            head = stream.read(8)
            if path.endswith(".safetensors"):
                return _whole_tensors(stream.read, head, size)
            if head.startswith(b"PK\x03\x04"):  # torch.save, NumPy, Keras
                stream.seek(max(0, size - (1 << 16) - 22))
                return b"PK\x05\x06" in stream.read()
            return size > 0 or not path.lower().endswith(ENDINGS + WEAK)
    except OSError:
        return False


def _whole_tensors(read: Callable[[int], bytes], head: bytes, size: int) -> bool:
    """Compare a safetensors file's size with what its header says."""
    import json

    if len(head) < 8:
        return False
    length: int = struct.unpack("<Q", head)[0]
    if length > size - 8:
        return False
    try:
        header = json.loads(read(length))
        end: int = max((one["data_offsets"][1] for name, one in header.items() if name != "__metadata__"), default=0)
    except (ValueError, KeyError, TypeError, IndexError):
        return False
    return size >= 8 + length + end
