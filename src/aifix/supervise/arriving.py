"""Signals that arrive while a run is supervised: each becomes a byte in a pipe that the main thread waits on."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

    from typing_extensions import Self

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGTSTP", "SIGCONT", "SIGWINCH", "SIGUSR1", "SIGUSR2")
CAUGHT = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
ENDING = frozenset(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name))
KEYS = frozenset(getattr(signal, name) for name in ("SIGINT", "SIGQUIT", "SIGHUP") if hasattr(signal, name))
"""What the terminal sends to a whole process group."""
WAKE = 0
"""No signal: something is to be looked at."""


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """Be there, so that the signal neither ends us nor is inherited as ignored; the byte in the pipe does the rest."""


class Arriving:
    """Within this context signals are numbers that `wait` gives. Off the main thread they are left alone."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        os.set_blocking(self._read, False)
        self._old: dict[int, Any] = {}
        self._old_wakeup = -1
        self._active = False

    def __enter__(self) -> Self:
        """Install the handlers; what was ignored on purpose (nohup) stays so."""
        if threading.current_thread() is threading.main_thread():
            self._active = True
            self._old_wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
            for number in CAUGHT:
                before = signal.getsignal(number)
                if before is signal.SIG_IGN and number not in {signal.SIGTERM, getattr(signal, "SIGCONT", 0)}:
                    continue
                self._old[number] = before
                signal.signal(number, _nothing)
        return self

    def __exit__(self, *_: object) -> None:
        """Put everything back."""
        if self._active:
            for number, before in self._old.items():
                signal.signal(number, before if before is not None else signal.SIG_DFL)
            signal.set_wakeup_fd(self._old_wakeup)
        os.close(self._read)
        os.close(self._write)

    def post(self, number: int = WAKE) -> None:
        """Wake the main thread, from another one, as if this signal had come."""
        with contextlib.suppress(OSError):
            os.write(self._write, bytes([number]))

    def wait(self, seconds: float | None) -> list[int]:
        """Wait for signals or the child's end."""
        if sys.platform == "win32":
            import time

            time.sleep(min(seconds or 0.1, 0.1))
        else:
            poller = select.poll()
            poller.register(self._read, select.POLLIN)
            poller.poll(None if seconds is None else max(0, int(seconds * 1000 + 0.999)))
        try:
            return list(os.read(self._read, 512))
        except OSError:
            return []

    def stop_self(self) -> None:
        """Stop as Ctrl-Z would have stopped us; returns when the shell lets us go on."""
        if sys.platform != "win32":
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTSTP)
            signal.signal(signal.SIGTSTP, _nothing)
