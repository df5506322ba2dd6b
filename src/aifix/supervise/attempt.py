"""One start of the command, from its fork to its last byte."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aifix.supervise import carriers as ways
from aifix.supervise import processes
from aifix.supervise.arriving import ENDING, KEYS
from aifix.supervise.copying import Copy
from aifix.supervise.witness import Witness
from aifix.supervise.words import duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from aifix.probes.producer import Producer
    from aifix.supervise.arriving import Arriving
    from aifix.supervise.copying import Tape
    from aifix.supervise.plan import Plan
    from aifix.supervise.terminal import Keys

AFTER_SUCCESS = 0.5
AFTER_FAILURE = 5.0
"""Seconds for which the last words of grandchildren are awaited when the child itself has ended."""
MERCY = 10.0
"""Seconds between SIGTERM and SIGKILL."""
SETTLED = 0.2
KILL = 255
"""Posted like a signal: the stall was described, end the run."""
THREADS = 4
"""That an attempt needs at most: one for each output, one for the keys, one that waits."""
_TERMINAL = sys.platform != "win32"


@dataclass
class Ended:
    """How an attempt ended; `returncode` as Python gives it (-n for a signal)."""

    returncode: int
    interrupted: bool = False
    stalled: float = 0.0
    stalls: int = 0
    oom_killed: bool = False
    peak_memory: int = 0
    producers: list[Producer] = field(default_factory=list)


class Attempt:
    """Runs the command once."""

    def __init__(self, plan: Plan, environ: dict[str, str], tape: Tape, arriving: Arriving, say: Callable[[list[str]], None]) -> None:
        self._plan, self._environ, self._tape, self._arriving, self._say = plan, environ, tape, arriving, say
        self._ended = Ended(0)
        self._describing: threading.Thread | None = None
        self._told: float = -1.0
        """The last sign of life before the stall that was reported."""
        self._kill_at: float | None = None
        self._last_ending = 0
        self.terminal = None
        if _TERMINAL:
            from aifix.supervise.terminal import Terminal

            self.terminal = Terminal()

    def run(self) -> Ended:
        """Run to the end.

        Raises:
            OSError: the command cannot be started.

        """
        _need_threads(THREADS)
        kills = processes.out_of_memory_kills()
        self._ways = ways.open_carriers(divert=self._plan.divert)
        self._tape.alone = len(self._ways.listed) == 1
        stop, stopper = os.pipe()
        try:
            self._process = self._start()
        except BaseException:
            self._ways.close_theirs()
            self._ways.close_ours()
            os.close(stop)
            os.close(stopper)
            raise
        self._ways.close_theirs()
        self._over = threading.Event()
        threading.Thread(target=self._await, name="aifix-wait", daemon=True).start()
        self._copies = [Copy(way, self._tape, stop, self._arriving.post) for way in self._ways.listed]
        for copy in self._copies:
            copy.start()
        keys = self._listen(stop)
        try:
            self._loop()
            self._drain()
        finally:
            os.write(stopper, b".")
            for copy in self._copies:
                copy.join()
            if keys is not None:
                keys.join(1)
                self._ended.interrupted |= keys.interrupted
            self._hand_over()
            for copy in self._copies:
                if copy.broken:
                    self._ways.listed.remove(copy.carrier)  # closed already
            self._ways.close_ours()
            if self.terminal is not None:
                self.terminal.leave()
            os.close(stop)
            os.close(stopper)
        self._tape.flush()
        self._ended.returncode = self._process.wait()
        self._ended.oom_killed = processes.out_of_memory_kills() > kills >= 0
        self._ended.peak_memory = _peak()
        return self._ended

    # ------------------------------------------------------------ the start

    def _start(self) -> subprocess.Popen[bytes]:
        found = self._ways
        interactive = found.interactive
        return subprocess.Popen(
            self._plan.command,
            stdin=found.out.theirs if interactive else None,
            stdout=found.out.theirs,
            stderr=found.err.theirs,
            env=self._environ,
            start_new_session=True,
            preexec_fn=_take_terminal if interactive else None,  # noqa: PLW1509 - one ioctl, and no thread of ours runs yet
        )

    def _listen(self, stop: int) -> Keys | None:
        """Set the user's terminal raw and pass its keys on, where the child has one of its own."""
        if not _TERMINAL or not self._ways.interactive or self.terminal is None:
            return None
        from aifix.supervise.terminal import Keys

        self.terminal.enter()
        keys = Keys(self._ways.out.source, self._process.pid, stop, lambda: self._arriving.post(signal.SIGTSTP))
        keys.start()
        return keys

    def _await(self) -> None:
        """Wait for the child, and leave its number reserved until the main thread has done with it."""
        if hasattr(os, "waitid") and hasattr(os, "WNOWAIT"):
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._process.wait()
        self._over.set()
        self._arriving.post()

    # ------------------------------------------------------------ while it runs

    def _loop(self) -> None:
        started = time.monotonic()
        witness = Witness()
        while not self._over.is_set():
            passed = time.monotonic() - started
            due = witness.due(passed)
            if due == 0.0:
                witness.look(self._process.pid)
                self._ended.producers = witness.producers
                continue
            waits = [seconds for seconds in (due, self._stall_due(), self._kill_due()) if seconds is not None]
            for number in self._arriving.wait(min(waits) if waits else None):
                self._handle(number)
            self._watch()

    def _handle(self, number: int) -> None:
        if number == KILL:
            self._end_stalled()
        elif number == getattr(signal, "SIGWINCH", -1):
            self._resize()
        elif number == getattr(signal, "SIGTSTP", -1):
            self._suspend()
        elif number == getattr(signal, "SIGCONT", -1):
            self._resume()
        elif number:
            if number in ENDING:
                self._ended.interrupted = True
                self._last_ending = number
            self._forward(number)

    def _forward(self, number: int) -> None:
        """Pass a signal on: to the whole group where it comes from the terminal, as the terminal would; else to the child alone."""
        if number in KEYS and (number == getattr(signal, "SIGHUP", -1) or _from_terminal()):
            self._signal_group(number)
        else:
            with contextlib.suppress(OSError):
                os.kill(self._process.pid, number)

    def _signal_group(self, number: int) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, number)

    def _resize(self) -> None:
        for way in self._ways.listed:
            if way.pty:
                ways.resize(way.source, way.target)
        if not self._ways.interactive:
            self._signal_group(signal.SIGWINCH)

    def _suspend(self) -> None:
        """Stop the child and ourselves, so that the shell has the terminal; go on when it says so."""
        self._signal_group(signal.SIGTSTP)
        until = time.monotonic() + SETTLED
        while not self._stopped() and time.monotonic() < until and not self._over.is_set():
            time.sleep(0.01)
        if not self._stopped():  # the leader of a session is not stopped by SIGTSTP
            self._signal_group(signal.SIGSTOP)
        if self.terminal is not None:
            self.terminal.leave()
        self._arriving.stop_self()
        self._resume()

    def _stopped(self) -> bool:
        process = processes.look(self._process.pid)
        return process is not None and process.state == "T"

    def _resume(self) -> None:
        if self.terminal is not None and self._ways.interactive:
            self.terminal.enter()
        self._tape.last = time.monotonic()
        self._signal_group(signal.SIGCONT)
        self._resize()

    # ------------------------------------------------------------ silence

    def _stall_due(self) -> float | None:
        if not self._plan.stall or self._kill_at is not None:
            return None
        if self._tape.last == self._told:
            return self._plan.stall
        return max(0.05, self._tape.last + self._plan.stall - time.monotonic())

    def _kill_due(self) -> float | None:
        return max(0.0, self._kill_at - time.monotonic()) if self._kill_at is not None else None

    def _watch(self) -> None:
        """Report a silence that has lasted long enough, once; kill what does not end."""
        now = time.monotonic()
        if self._kill_at is not None:
            if now >= self._kill_at:
                self._kill_at = now + MERCY
                self._signal_all(signal.SIGKILL)
            return
        last = self._tape.last
        if not self._plan.stall or last == self._told or now - last < self._plan.stall or self._over.is_set():
            return
        if self._describing is not None and self._describing.is_alive():
            return
        self._told = last
        self._ended.stalls += 1
        self._describing = threading.Thread(target=self._describe, args=(last,), name="aifix-stall", daemon=True)
        try:
            self._describing.start()
        except RuntimeError:  # no thread is left: the stall goes undescribed, the run goes on
            self._describing = None
            if self._plan.kill_stalled:
                self._arriving.post(KILL)

    def _describe(self, last: float) -> None:
        """Describe the stall, beside the copying: signals and output go on meanwhile."""
        from aifix.supervise.stall import describe

        lines = describe(self._process.pid, time.monotonic() - last)
        if self._over.is_set():
            return
        lines[0] += " (it goes on)" if not self._plan.kill_stalled else " (it will be ended)"
        self._say(lines)
        if self._plan.kill_stalled and self._tape.last == last:
            self._arriving.post(KILL)

    def _end_stalled(self) -> None:
        self._ended.stalled = time.monotonic() - self._tape.last
        self._say([f"ending the run after {duration(self._ended.stalled)} of silence (--kill-stalled): SIGTERM, and SIGKILL in {MERCY:.0f} s"])
        self._signal_all(signal.SIGTERM)
        self._kill_at = time.monotonic() + MERCY

    def _signal_all(self, number: int) -> None:
        """Signal the child's group and whatever else it has started."""
        self._signal_group(number)
        self._signal_group(signal.SIGCONT)
        signal_marked(self._environ["AIFIX_RUN"], number)

    # ------------------------------------------------------------ the end

    def _drain(self) -> None:
        """Take the last words; grandchildren that keep an output open are not waited for long."""
        if self._last_ending:
            self._signal_group(self._last_ending)  # what the child leaves behind when it was asked to end
        failed = _failed(self._process.pid)
        until = time.monotonic() + (AFTER_FAILURE if failed else AFTER_SUCCESS)
        while any(copy.is_alive() for copy in self._copies):
            left = until - time.monotonic()
            if left <= 0 or any(number in ENDING for number in self._arriving.wait(min(left, 0.5))):
                return

    def _hand_over(self) -> None:
        """Let `cat` go on with the outputs that grandchildren keep open: they must not meet a closed pipe because we end."""
        left = [copy for copy in self._copies if not copy.ended and not copy.broken]
        if not left or not _TERMINAL:
            return
        who = processes.holders([copy.carrier.source for copy in left])
        if not who:
            return
        names = ", ".join(f"{process.pid} {process.command[:60]}" for process in who[:3]) + (f" and {len(who) - 3} more" if len(who) > 3 else "")
        self._say([f"the command has ended; not waited for what it left behind: {names}"])
        for copy in left:
            with contextlib.suppress(OSError):
                subprocess.run(
                    ["sh", "-c", "exec 3<&0; cat <&3 3<&- &"],
                    stdin=copy.carrier.source,
                    stdout=copy.carrier.target,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    check=False,
                )


def _need_threads(count: int) -> None:
    """Start as many threads as will be needed, and end them.

    Raises:
        BlockingIOError: the limit of processes or of memory leaves no room for them; better now than beside a running child.

    """
    over = threading.Event()
    started: list[threading.Thread] = []
    try:
        for _ in range(count):
            thread = threading.Thread(target=over.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError as error:
        raise BlockingIOError(errno.EAGAIN, "no thread can be started") from error
    finally:
        over.set()
        for thread in started:
            thread.join()


def signal_marked(token: str, number: int, *, without: int = 0) -> int:
    """Signal all processes of a run; give how many there were."""
    found = processes.marked(token, without=without)
    for pid in found:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
    return len(found)


def _take_terminal() -> None:
    """Make the pseudo-terminal on standard input the controlling terminal of the new session; runs in the child."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _from_terminal() -> bool:
    """Tell whether we are the foreground of a terminal: then an interrupt most likely is a key."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | getattr(os, "O_NOCTTY", 0))
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _failed(pid: int) -> bool:
    """Tell whether the child, which has ended and is not reaped yet, failed."""
    if not hasattr(os, "waitid"):
        return True
    try:
        result = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    except ChildProcessError:
        return True
    return result is None or result.si_status != 0


def _peak() -> int:
    """Give the bytes of the largest process among those that were waited for."""
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
