"""A log file of any size, read by the line: an index of newlines a page, and no more of the text in memory than is shown."""

from __future__ import annotations

import codecs
import tempfile
import threading
from array import array
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING

from aifix.intake import packed, utf16
from aifix.show.safe import sanitise

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import IO

PAGE = 64 << 10
"""Bytes between two entries of the index."""
STEP = 4 << 20
"""Bytes that are indexed or searched at a time; between two steps one may stop."""
LONGEST = 16 << 10
"""Bytes of a line that are shown at each of its two ends."""


class LogFile:
    """The lines of a file, numbered from 1 as line feeds count them (as the report does)."""

    def __init__(self, path: Path) -> None:
        """Open a log.

        Args:
            path: the file.

        Raises:
            OSError: it cannot be opened.

        """
        self.path = path
        self._lock = threading.Lock()
        self._stream: IO[bytes] = path.open("rb")
        if packed.form(self._stream.read(packed.HEAD)):
            self._stream.close()
            self._stream = _unpacked(path)
        self._stream.seek(0)
        if self._stream.read(2) in utf16.BOMS:  # Windows PowerShell's `>`: its line feeds are two bytes
            self._stream = _as_utf8(self._stream)
        self.size = self._stream.seek(0, 2)
        self.indexed = 0
        self._before = [0]  # line feeds before each page
        self._feeds = 0
        # as attributes, so that the caches go with the file
        self._page_starts = lru_cache(maxsize=16)(self._read_starts)
        self.text = lru_cache(maxsize=512)(self._read_text)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    @property
    def complete(self) -> bool:
        """Whether all lines are known."""
        return self.indexed >= self.size

    @property
    def lines(self) -> int:
        """The lines known so far."""
        if not self.complete:
            return self._feeds
        return self._feeds + bool(self.size and self._read(self.size - 1, 1) != b"\n")

    def index(self) -> Iterator[int]:
        """Index the file step by step; yields the bytes that are done."""
        while not self.complete:
            data = self._read(self.indexed, STEP)
            if not data:  # the file shrank while it was read
                self.size = self.indexed
                break
            for at in range(0, len(data), PAGE):
                self._feeds += data.count(b"\n", at, at + PAGE)
                self._before.append(self._feeds)
            self.indexed += len(data)
            yield self.indexed

    def grow(self) -> bool:
        """Take note that the file has grown, as that of a running command does; `index` then knows the new lines. False where it has not.

        Indexing goes on from the last whole page. Call it, and `index`, on the thread that reads lines.
        """
        with self._lock:
            try:
                size = self._stream.seek(0, 2)
            except (OSError, ValueError):
                return False
        if size <= self.size:
            return False
        pages = self.indexed // PAGE
        self._before = self._before[: pages + 1]
        self._feeds = self._before[pages]
        self.indexed = pages * PAGE
        self.size = size
        self._page_starts.cache_clear()
        self.text.cache_clear()
        return True

    def _read(self, start: int, size: int) -> bytes:
        """Read; what cannot be read, or no longer because the log was closed, is empty, as the end of the file is."""
        with self._lock:
            try:
                self._stream.seek(start)
                return self._stream.read(size)
            except (OSError, ValueError):
                return b""

    def _read_starts(self, page: int) -> list[int]:
        """Where lines start in a page: the places after its line feeds."""
        data = self._read(page * PAGE, PAGE)
        starts: list[int] = []
        at = data.find(b"\n")
        while at >= 0:
            starts.append(page * PAGE + at + 1)
            at = data.find(b"\n", at + 1)
        return starts

    def _start(self, number: int) -> int:
        if number <= 1:
            return 0
        page = max(0, bisect_left(self._before, number - 1) - 1)
        starts = self._page_starts(page)
        index = number - 2 - self._before[page]
        return starts[index] if index < len(starts) else self.size

    def _read_text(self, number: int, wanted: str = "") -> str:
        """Give one line, printable; of a line that carriage returns redrew, the redraw that says `wanted`, else the last."""
        start = self._start(number)
        end = self._start(number + 1) - 1 if number <= self._feeds else self.size
        if end - start > 2 * LONGEST:
            head, tail = self._read(start, LONGEST), self._read(end - LONGEST, LONGEST)
            data = head + (b"\r" if b"\r" in tail else b" ") + tail
        else:
            data = self._read(start, end - start)
        text = data.decode("utf-8", "replace").strip("\r\n")
        if "\r" in text:
            parts = [part for part in map(sanitise, text.split("\r")) if part.strip()]
            said = [part for part in parts if wanted and (wanted in part or part in wanted)]
            return (said or parts or [""])[-1]
        return sanitise(text)

    def line_at(self, place: int) -> int:
        """Give the number of the line that holds a byte."""
        page = place // PAGE
        return self._before[page] + self._read(page * PAGE, place - page * PAGE).count(b"\n") + 1

    def find(self, words: str, after: int, *, backwards: bool = False, stop: Callable[[], bool] = lambda: False) -> int | None:
        """Find the next line that holds some words, in any case of letters, starting over at the end.

        Args:
            words: what to look for.
            after: the line from which to look on; it comes last itself.
            backwards: look towards the start.
            stop: asked between steps whether to give up.

        """
        needle = words.encode("utf-8", "replace").lower()
        if not needle or not self.size:
            return None
        if backwards:
            edge = self._start(after)
            spans = [(0, edge), (edge, self.size)]
            look = self._backward
        else:
            edge = self._start(after + 1) if after < self.lines else self.size
            spans = [(edge, self.size), (0, edge)]
            look = self._forward
        for low, high in spans:
            place = look(needle, low, high, stop)
            if place is not None:
                return self.line_at(place)
        return None

    def matching(self, pattern: re.Pattern[bytes], stop: Callable[[], bool] = lambda: False) -> array[int]:
        """Give the numbers of the lines that match a pattern of whole lines' beginnings (`^`, multi-line); four bytes a line."""
        found = array("I")
        place, number = 0, 1
        while place < self.size and not stop():
            data = self._read(place, min(STEP, self.size - place))
            end = data.rfind(b"\n") + 1
            if place + len(data) < self.size and end:
                data = data[:end]
            if not data:
                break
            at = 0
            for match in pattern.finditer(data):
                number += data.count(b"\n", at, match.start())
                at = match.start()
                found.append(number)
            number += data.count(b"\n", at)
            place += len(data)
        return found

    def _forward(self, needle: bytes, low: int, high: int, stop: Callable[[], bool]) -> int | None:
        while low < high and not stop():
            data = self._read(low, min(STEP, high - low) + len(needle) - 1)
            at = data.lower().find(needle)
            if at >= 0:
                return low + at
            low += STEP
        return None

    def _backward(self, needle: bytes, low: int, high: int, stop: Callable[[], bool]) -> int | None:
        while low < high and not stop():
            first = max(low, high - STEP)
            at = self._read(first, high - first + len(needle) - 1).lower().rfind(needle)
            if at >= 0:
                return first + at
            high = first
        return None


def _unpacked(path: Path) -> IO[bytes]:
    """Unpack a compressed file into a temporary one: a pager goes back and forth."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the log is open
    with packed.opened(path) as stream:
        while data := stream.read(STEP):
            copy.write(data)
    return copy


def _as_utf8(stream: IO[bytes]) -> IO[bytes]:
    """Rewrite a UTF-16 file into a temporary one."""
    stream.seek(0)
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the log is open
    while data := stream.read(STEP):
        copy.write(decoder.decode(data).encode("utf-8", "replace"))
    stream.close()
    return copy
