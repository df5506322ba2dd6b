"""Pipe mode: copy standard input to standard output byte for byte, at once; diagnose at its end, on standard error.

Only `os`, `sys` and what is built in is imported before the end of the input; a healthy run ends without more.
"""

import os
import sys

TYPE_CHECKING = False  # `typing` would double the start-up, `__future__` is a file more
if TYPE_CHECKING:
    from aifix.match.keeper import Keeper
    from aifix.probes.producer import Producer


def run(options: dict[str, object]) -> int:
    """Copy and diagnose.

    Args:
        options: format, quiet, exit_zero, colour, verbose, probe, history, kb, as `aifix.__main__.pipe_options` gives them.

    Returns:
        The exit status: 1 when a failure was seen, else 0.

    """
    _ignore_interrupts()
    options["probe"] = bool(options.get("probe")) and not os.environ.get("AIFIX_NO_PROBE")
    options["history"] = bool(options.get("history")) and not os.environ.get("AIFIX_NO_HISTORY")
    watch = Watch() if options["probe"] or options["history"] else None
    if watch is not None:
        watch.look()
    keeper = copy(passing=options["format"] == "text", watch=watch)
    if watch is not None:
        watch.end()
    if keeper is None:
        return _say_healthy(options, 0, watch)
    if keeper.head[:2] in PACKED:
        from aifix.commands.report import refuse_packed

        if refuse_packed(keeper.head):
            return 2
    from aifix.match.keeper import load

    if keeper.healthy(load()):
        _say_healthy(options, keeper.lines(), watch)
        if options["history"] and watch is not None and watch.producers:
            _look_back(options, watch)
        return 0
    from aifix.commands.report import report_blocks

    return report_blocks(keeper, options, watch)


def _look_back(options: dict[str, object], watch: "Watch") -> None:
    """Note that a run which failed before has ended well. Where none is waited for, one look into a folder is all that it costs."""
    from aifix.rulebase import paths

    try:
        if not os.listdir(paths.pending_folder(paths.history_file(str(options.get("kb") or "")))):  # noqa: PTH208 - start-up
            return
    except OSError:
        return
    from aifix.kb.pending import key_of_producers, waiting

    if waiting(paths.history_file(str(options.get("kb") or "")), key_of_producers(watch.producers)):
        from aifix.commands.remember import pipe_ended_well

        pipe_ended_well(options, watch)


class Watch:
    """Looks, as the input comes, at who writes it: the process is gone when the input ends.

    It looks before the first read, since a program that fails at its first import lives for some hundredths of a second; then
    after the first bytes have gone out, and at ever rarer reads, until it has seen a Python.
    """

    def __init__(self) -> None:
        import time

        self.producers: list[Producer] = []
        self._clock = time.monotonic
        self._started = time.monotonic()
        self.seconds = 0.0
        self._reads = 0
        self._done = False

    def end(self) -> None:
        """Note how long the input took."""
        self.seconds = self._clock() - self._started

    def see(self) -> None:
        """Look, if it is time to."""
        self._reads += 1
        if not self._done and not self._reads & (self._reads - 1):
            self.look()

    def look(self) -> None:
        """Look now."""
        from aifix.probes.producer import capture

        self.producers = capture() or self.producers
        self._done = any(b"python" in os.path.basename(producer.exe.encode()) for producer in self.producers)  # noqa: PTH119 - start-up


def copy(*, passing: bool, watch: "Watch | None" = None) -> "Keeper | None":
    """Copy until the end of input; a closed output ends the copying, not the reading (the producer is never killed).

    Args:
        passing: whether to copy to standard output at all.
        watch: looks at who writes.

    Returns:
        What was kept for the diagnosis; None when the input was empty.
    """
    data = _first()
    if not data:
        return None
    if passing:
        passing = _write(data)
    from aifix.match.keeper import Keeper

    keeper = Keeper(beside=True)
    keeper.head = data[:16]
    keeper.feed(data)
    if watch is not None:
        watch.see()
    wide = True
    if len(data) >= PIPE:
        wide = False
        _widen()
    while True:
        room = keeper.room()
        try:
            count = os.readv(0, (room,)) if READV else _into(room)
        except InterruptedError:
            continue
        except OSError:
            return keeper
        if not count:
            return keeper
        if passing:
            passing = _write(room[:count])
        keeper.took(count)
        if watch is not None:
            watch.see()
        if wide and count >= PIPE:
            wide = False
            _widen()


READV = hasattr(os, "readv")
PIPE = 64 << 10
"""Bytes that a pipe holds at first: a read that gets as many has met a fast producer."""
WIDE = 1 << 20
PACKED = (b"\x1f\x8b", b"BZ", b"\xfd7", b"\x28\xb5")
"""How compressed input may begin."""


def _first() -> bytes:
    """Read what is there first: it goes out before anything is imported."""
    while True:
        try:
            return os.read(0, PIPE)
        except InterruptedError:
            continue
        except OSError:
            return b""


def _into(room: memoryview) -> int:
    """Read where there is no `readv`."""
    data = os.read(0, len(room))
    room[: len(data)] = data
    return len(data)


def _widen() -> None:
    """Let the pipes at both ends hold more: fewer switches between the processes, a third more throughput. Linux only."""
    try:
        import fcntl

        for descriptor in (0, 1):
            try:
                if fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ) < WIDE:  # type: ignore[attr-defined,unused-ignore]  # Linux
                    fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, WIDE)  # type: ignore[attr-defined,unused-ignore]
            except OSError:
                continue  # no pipe, or the user's pipes hold as much already as they may
    except (ImportError, AttributeError):
        pass


def _write(data: "bytes | memoryview") -> bool:
    """Write everything; false when the output takes no more (then only the diagnosis goes on)."""
    at, size = 0, len(data)
    while at < size:
        try:
            at += os.write(1, data[at:] if at else data)
        except InterruptedError:
            continue
        except BlockingIOError:
            at = _write_blocking(data, at)
        except OSError:
            return False
    return True


def _write_blocking(data: "bytes | memoryview", at: int) -> int:
    """Write to a descriptor that somebody made non-blocking, by waiting until it takes more."""
    import select

    while at < len(data):
        select.select([], [1], [])
        try:
            at += os.write(1, data[at:])
        except BlockingIOError:
            continue
        except OSError:
            return len(data)
    return at


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C until the input ends: the producer gets it too, and its last words are what we are here for."""
    try:
        import _signal  # type: ignore[import-not-found]  # the `signal` module costs an enum import
    except ImportError:  # pragma: no cover - another Python
        import signal as _signal
    try:  # noqa: SIM105 - contextlib is an import
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    except (ValueError, OSError):
        pass


def _say_healthy(options: dict[str, object], lines: int, watch: "Watch | None" = None) -> int:
    """Say in one quiet line that nothing failed; in the form that was asked for."""
    if options["format"] != "text":
        from aifix.commands.report import print_empty

        print_empty(options)
    elif not options["quiet"]:
        said = f"nothing failed in {lines:,} {'line' if lines == 1 else 'lines'}" if lines else "nothing came in"
        if watch is not None and any(producer.apart for producer in watch.producers):
            said += "; standard error went another way, and with it the errors: 2>&1 | aifix"
        try:
            sys.stderr.write(f"aifix: {said}\n")
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            from aifix.commands.report import close_quietly

            close_quietly(2)
    return 0
