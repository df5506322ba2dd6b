"""Logs that were compressed when they were rotated or kept: they are read as what they hold."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from io import BufferedReader
    from typing import IO, Any

FORMS = {b"\x1f\x8b\x08": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
"""What each form begins with."""
BLOCK = b"1AY&SY"
"""What stands behind bzip2's sign and a digit: the sign alone could begin a text."""
TOOLS = {"gzip": "gzip -dc", "bzip2": "bzip2 -dc", "xz": "xz -dc", "zstd": "zstd -dc"}
"""The command that writes the text of each to standard output."""
PIECE = 64 << 10
"""Bytes of the text that are unpacked at a time."""
HEAD = 10
"""Bytes that tell the form."""


def form(head: bytes) -> str:
    """Name the form of compression that the first bytes of a file tell; nothing for plain text."""
    found = next((name for magic, name in FORMS.items() if head.startswith(magic)), "")
    return "" if found == "bzip2" and head[4:HEAD] != BLOCK else found


def opened(path: str | os.PathLike[str]) -> BufferedReader | Packed:
    """Open a log for reading from its start to its end, unpacked where it is compressed.

    Raises:
        OSError: it cannot be read, or not unpacked here.

    """
    stream = open(path, "rb")  # noqa: PTH123, SIM115 - as the caller closes it
    try:
        kind = form(stream.peek(HEAD)[:HEAD])  # without a seek: it may be a pipe, as `<(kubectl logs ...)` is
        return Packed(stream, kind) if kind else stream
    except OSError:
        stream.close()
        raise


def unpacked(data: bytes) -> bytes:
    """Give the text of compressed bytes; others as they are.

    Raises:
        OSError: they cannot be unpacked here.

    """
    kind = form(data[:HEAD])
    if not kind:
        return data
    with Packed(io.BytesIO(data), kind) as stream:
        return b"".join(iter(lambda: stream.read(1 << 20), b""))


class Packed(io.RawIOBase):
    """The text of a compressed file. One that is cut off (the disk was full, the job was killed) ends where it can no longer be read."""

    def __init__(self, stream: IO[bytes], kind: str) -> None:
        """Unpack a stream.

        Args:
            stream: the compressed bytes; closed with this.
            kind: their form, as `form` names it.

        Raises:
            OSError: this Python cannot unpack that form.

        """
        super().__init__()
        self._packed = stream
        self._kind = kind
        self._text, self._errors = _unpacker(stream, kind)
        self._given = False

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, room: Any) -> int:
        """Read the next bytes of the text.

        Raises:
            OSError: not one byte can be unpacked.

        """
        try:
            data: bytes = self._text.read1(min(len(room), PIECE))  # little at a time: what stands before a cut is given
        except self._errors as error:
            if self._given:
                return 0
            msg = f"it begins as {self._kind} does, and cannot be unpacked"
            raise OSError(msg) from error
        self._given = self._given or bool(data)
        room[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close it, and what it is read from."""
        if not self.closed:
            self._packed.close()
        super().close()


def _unpacker(stream: IO[bytes], kind: str) -> tuple[Any, tuple[type[Exception], ...]]:
    """Give a reader of the text, and what it raises where it can read no further. Imported when needed: not every Python has each."""
    try:
        if kind == "gzip":
            import gzip
            import zlib

            return gzip.GzipFile(fileobj=stream, mode="rb"), (EOFError, OSError, zlib.error)
        if kind == "bzip2":
            import bz2

            return bz2.BZ2File(stream), (EOFError, OSError, ValueError)
        if kind == "xz":
            import lzma

            return lzma.LZMAFile(stream), (EOFError, OSError, lzma.LZMAError)
        return _zstd(stream)
    except ImportError:
        msg = f"it is compressed with {kind}, which this Python cannot read: {TOOLS[kind]} FILE | aifix"
        raise OSError(msg) from None


def _zstd(stream: IO[bytes]) -> tuple[Any, tuple[type[Exception], ...]]:
    """Unpack zstd: with the standard library from Python 3.14 on, before with the package `zstandard` where it is installed."""
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        import zstandard  # type: ignore[import-not-found,unused-ignore]

        return zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True), (EOFError, OSError, zstandard.ZstdError)
    return zstd.ZstdFile(stream), (EOFError, OSError, zstd.ZstdError)
