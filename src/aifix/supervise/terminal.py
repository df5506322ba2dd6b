"""The user's own terminal while the child has a pseudo-terminal: raw, so that every key goes to the child as it is."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import termios
import threading
import tty
from typing import TYPE_CHECKING, Any

from aifix.supervise import processes
from aifix.supervise.copying import write_all

if TYPE_CHECKING:
    from collections.abc import Callable

STDIN = 0
IDLE = 500
"""Milliseconds between looks at whether we are in the foreground again."""


def in_foreground() -> bool:
    """Tell whether the keys are ours: a background job that reads or sets its terminal is stopped."""
    try:
        return os.tcgetpgrp(STDIN) == os.getpgrp()
    except OSError:
        return False


class Terminal:
    """Sets the terminal raw and back."""

    def __init__(self) -> None:
        self._saved: list[Any] | None = None

    @property
    def raw(self) -> bool:
        """Whether it is raw now."""
        return self._saved is not None

    def enter(self) -> None:
        """Set it raw, where it is ours."""
        if self._saved is not None or not in_foreground():
            return
        try:
            saved = termios.tcgetattr(STDIN)
            tty.setraw(STDIN, termios.TCSADRAIN)
        except termios.error:
            return
        self._saved = saved

    def leave(self) -> None:
        """Set it back as it was."""
        if self._saved is None:
            return
        saved, self._saved = self._saved, None
        before = signal.SIG_DFL
        main = threading.current_thread() is threading.main_thread()
        if main:
            before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # type: ignore[assignment]  # we may be in the background by now
        with contextlib.suppress(termios.error):
            termios.tcsetattr(STDIN, termios.TCSADRAIN, saved)
        if main:
            signal.signal(signal.SIGTTOU, before)


class Keys(threading.Thread):
    """Passes keys to the child's pseudo-terminal until `stop` is readable.

    Ctrl-Z is taken out where it would stop the child: the leader of a session has no shell above it in its session, so the kernel
    would drop the signal. `suspend` then stops both, as the user's shell expects.
    """

    def __init__(self, master: int, child: int, stop: int, suspend: Callable[[], None]) -> None:
        super().__init__(name="aifix-keys", daemon=True)
        self.interrupted = False
        """Whether the user asked the child to end, by Ctrl-C or Ctrl-\\."""
        self._master, self._child, self._stop_at, self._suspend = master, child, stop, suspend

    def run(self) -> None:
        """Copy keys."""
        poller = select.poll()
        poller.register(self._stop_at, select.POLLIN)
        poller.register(STDIN, select.POLLIN)
        while True:
            if any(descriptor == self._stop_at for descriptor, _ in poller.poll()):
                return
            if not in_foreground():
                only = select.poll()
                only.register(self._stop_at, select.POLLIN)
                if only.poll(IDLE):
                    return
                continue
            try:
                keys = os.read(STDIN, 4096)
            except OSError:
                return
            if not keys:
                return
            keys = self._special(keys)
            if keys and not write_all(self._master, keys):
                return

    def _special(self, keys: bytes) -> bytes:
        """See to Ctrl-C and Ctrl-Z, where they are not just keys to the child."""
        try:
            attributes = termios.tcgetattr(self._master)
        except termios.error:
            return keys
        if not attributes[3] & termios.ISIG:
            return keys
        characters = attributes[6]
        if any(characters[index] in keys for index in (termios.VINTR, termios.VQUIT) if characters[index] != b"\0"):
            self.interrupted = True
        stop = characters[termios.VSUSP]
        if stop != b"\0" and stop in keys and self._orphaned() and not processes.ignores(self._child, signal.SIGTSTP):
            keys = keys.replace(stop, b"")
            self._suspend()
        return keys

    def _orphaned(self) -> bool:
        """Tell whether the keys go to the child itself, and not to a job of a shell that it is."""
        try:
            return os.tcgetpgrp(self._master) == self._child
        except OSError:
            return True
