"""Pass the child's output on, byte for byte and at once, and remember it.

One thread for each output: an output whose reader is slow must not hold up the other one.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
import time
from typing import TYPE_CHECKING

from aifix import room
from aifix.supervise.carriers import widen

if TYPE_CHECKING:
    from collections.abc import Callable

    from aifix.match.keeper import Keeper
    from aifix.supervise.carriers import Carrier

READ = 256 << 10
LEAST = 4 << 10
FULL = 64 << 10
"""A read that gets as many bytes has met a fast producer."""
HELD = 64 << 10
"""Bytes of an unfinished line that wait for their end while another output may print."""


def write_all(descriptor: int, data: bytes | bytearray | memoryview) -> bool:
    """Write everything, waiting as long as it takes; false when the descriptor takes no more."""
    at, size = 0, len(data)
    while at < size:
        try:
            at += os.write(descriptor, data[at:] if at else data)
        except BlockingIOError:  # somebody made it non-blocking
            select.select([], [descriptor], [])
        except OSError:
            return False
    return True


class Tape:
    """What was printed: whole lines of all outputs in their order, for the diagnosis and the log file."""

    def __init__(self, log: int | None, complain: Callable[[str], None]) -> None:
        """Begin an empty tape.

        Args:
            log: the descriptor of the log file.
            complain: says once that the log file takes no more.

        """
        self.last = time.monotonic()
        """When something was printed last."""
        self.open_line: dict[int, bool] = {}
        """For each descriptor of ours, whether its last line has not ended."""
        self.alone = True
        """Whether there is a single output."""
        self._log = log
        self._complain = complain
        self._lock = threading.Lock()
        self._held: dict[int, bytes] = {}
        self.deaf = _is_cramped()
        """Whether nothing more can be kept of this attempt."""
        self.keeper = self._fresh()
        self.before = 0
        """Lines of earlier attempts in the log file."""

    @staticmethod
    def _fresh() -> Keeper:
        from aifix.match.keeper import Keeper

        return Keeper()

    def restart(self) -> None:
        """Begin a new attempt: the log goes on, the diagnosis starts afresh."""
        self.flush()
        self.before += self.keeper.lines()
        self.keeper = self._fresh()
        self.deaf = _is_cramped()
        self.last = time.monotonic()

    def take(self, target: int, data: memoryview, holder: bytearray | bytes) -> None:
        """Take what was passed on; `holder` holds the same bytes, from its start."""
        size = len(data)
        self.last = time.monotonic()
        self.open_line[target] = holder[size - 1] != 10
        with self._lock:
            if self.alone:
                self._put(data)
                return
            # lines of two outputs must not be cut into each other where a read happened to end
            cut = holder.rfind(b"\n", 0, size) + 1
            cut = holder.rfind(b"\r", cut, size) + 1 or cut
            held = self._held.pop(target, b"")
            if cut:
                if held:
                    self._put(memoryview(held))
                self._put(data[:cut])
                held = b""
            if cut < size:
                held += bytes(data[cut:])
            if len(held) > HELD:
                self._put(memoryview(held))
            elif held:
                self._held[target] = held

    def _put(self, data: memoryview) -> None:
        if self._log is not None and not write_all(self._log, data):
            self._log = None
            self._complain("the log file takes no more (is the disk full?); the run goes on without it")
        if self.deaf:
            return
        try:
            self._keep(data)
        except Exception as error:  # noqa: BLE001 - whatever it is, the output goes on
            self.deaf = True
            with contextlib.suppress(Exception):  # without memory not even this can be said
                from aifix.pipe import why_not

                self._complain(f"the output is no longer kept for a diagnosis: {why_not(error)}")

    def _keep(self, data: memoryview) -> None:
        keeper = self.keeper
        at = 0
        while at < len(data):
            place = keeper.room()
            part = data[at : at + len(place)]
            place[: len(part)] = part
            keeper.took(len(part))
            at += len(part)

    def flush(self) -> None:
        """Take unfinished lines as they are."""
        with self._lock:
            for held in self._held.values():
                self._put(memoryview(held))
            self._held.clear()


def _is_cramped() -> bool:
    """Tell whether a limit of memory leaves too little to look at the output."""
    found = room.left()
    return found is not None and found < room.BESIDE_THREADS


class Copy(threading.Thread):
    """Passes one output on, until its end or until `stop` is readable."""

    def __init__(self, carrier: Carrier, tape: Tape, stop: int, at_end: Callable[[], None]) -> None:
        super().__init__(name=f"aifix-copy-{carrier.target}", daemon=True)
        self.carrier = carrier
        self.ended = False
        """Whether the end of the output was reached."""
        self.broken = False
        """Whether our own output takes no more."""
        self._tape = tape
        self._stop_at = stop
        self._at_end = at_end

    def run(self) -> None:
        """Copy."""
        try:
            self._copy()
        finally:
            self._at_end()

    def _copy(self) -> None:
        carrier, tape = self.carrier, self._tape
        source, target = carrier.source, carrier.target
        holder = _holder()
        view = memoryview(holder)
        wait = _waiter(source, self._stop_at)
        passing = _is_open(target)
        wide = True
        carry = b""
        while wait():
            try:
                count = os.readv(source, (view,)) if sys.platform != "win32" else _into(source, view)
            except OSError:  # EIO: every end of the pseudo-terminal is closed
                count = 0
            if not count:
                self.ended = True
                break
            if passing:
                passing = write_all(target, view[:count])
                if not passing and not carrier.pty:
                    self.broken = True
                    os.close(source)  # so that the child meets the closed pipe as it would without us
            with contextlib.suppress(MemoryError):  # what cannot be remembered has passed all the same
                if carrier.translated:
                    carry = self._translated(carry, bytes(view[:count]))
                else:
                    tape.take(target, view[:count], holder)
            if self.broken:
                break
            if wide and count >= FULL:
                wide = False
                widen(source)
                widen(target)
        if carry:
            tape.take(target, memoryview(carry), carry)

    def _translated(self, carry: bytes, data: bytes) -> bytes:
        """Take a terminal's output as the program wrote it, without the carriage return before each line feed; give what must wait."""
        data = carry + data
        wait = data.endswith(b"\r")
        data = (data[:-1] if wait else data).replace(b"\r\n", b"\n")
        if data:
            self._tape.take(self.carrier.target, memoryview(data), data)
        return b"\r" if wait else b""


def _waiter(source: int, stop: int) -> Callable[[], bool]:
    """Give what waits for the next bytes; it answers false when it is time to stop."""
    if sys.platform == "win32":
        return lambda: True
    poller = select.poll()
    poller.register(source, select.POLLIN)
    poller.register(stop, select.POLLIN)
    poll = poller.poll

    def wait() -> bool:
        return all(descriptor != stop for descriptor, _ in poll())

    return wait


def _holder() -> bytearray:
    """Give the place for one read; a small one where memory is short."""
    try:
        return bytearray(READ)
    except MemoryError:
        return bytearray(LEAST)


def _into(source: int, view: memoryview) -> int:
    data = os.read(source, len(view))
    view[: len(data)] = data
    return len(data)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
