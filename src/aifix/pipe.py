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
    try:
        return _run(options)
    except Exception as error:  # the input has passed by now; whatever it is, a traceback helps nobody here
        if os.environ.get("AIFIX_TRACEBACK"):
            raise
        return say_not_diagnosed(options, error)


def _run(options: dict[str, object]) -> int:
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
    if replaced():
        status = afresh(keeper.blocks(), sys.argv[1:], "none" if options["format"] == "text" else "output")
        if status is not None:
            return status
        raise ReplacedError
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
        try:
            from aifix.probes.producer import capture

            self.producers = capture() or self.producers
        except Exception:  # noqa: BLE001 - who writes is good to know; what is written comes first
            self._done = True
            return
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
    output = Output(passing=passing)
    output.take(data)
    try:
        return _keep(data, output, watch)
    except Exception:
        _copy_on(output)  # not enough memory, no thread: the diagnosis is lost, the data is not
        raise


class Output:
    """Standard output, until it takes no more."""

    def __init__(self, *, passing: bool) -> None:
        """Begin; without `passing` nothing is written."""
        self.passing = passing

    def take(self, data: "bytes | memoryview") -> None:
        """Write what was read."""
        if self.passing:
            self.passing = _write(data)


def _copy_on(output: Output) -> None:
    """Copy the rest of the input, and keep nothing of it."""
    size = PIPE
    while True:
        try:
            data = os.read(0, size)
        except InterruptedError:
            continue
        except MemoryError:
            size = max(1, size // 2)
            continue
        except OSError:
            return
        if not data:
            return
        output.take(data)


def _keep(data: bytes, output: Output, watch: "Watch | None") -> "Keeper":
    """Copy from the second read on, and keep what a diagnosis can need."""
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
        if output.passing:
            output.passing = _write(room[:count])
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


# ---------------------------------------------------------------- when it cannot be diagnosed


class ReplacedError(Exception):
    """Another version of aifix stands where this one was loaded from, and does not start yet, or nothing does any more."""


def _state() -> "tuple[int, int, int]":
    """Tell one version's files from another's: every installer writes new ones."""
    try:
        found = os.stat(__file__)  # noqa: PTH116
    except OSError:
        return (0, 0, 0)
    return found.st_ino, found.st_mtime_ns, found.st_size


_loaded = _state()


def replaced() -> bool:
    """Tell whether aifix was replaced or removed since this process began: what it imports from now on is another version's."""
    return _state() != _loaded


def afresh(blocks: "list[tuple[int, bytes]]", arguments: list[str], output: str) -> "int | None":
    """Let the version that was installed meanwhile diagnose what was kept.

    Args:
        blocks: what was kept: the number of its first line, bytes.
        arguments: those of its command line.
        output: where its standard output goes: "output" or "error", as ours, or "none".

    Returns:
        Its exit status; None where it does not start.
    """
    import subprocess
    import time

    called = [sys.executable, *sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv) + 1]]  # `python -m aifix`, or the installed script
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for _ in range(PATIENCE):
        if not subprocess.run([*called, "--version"], check=False, **quiet).returncode:  # type: ignore[call-overload]
            break
        time.sleep(1)  # an installer removes the old version before it writes the new one
    else:
        return None
    parts, line = [], 1
    for first, data in blocks:
        parts += [b"\n" * max(0, first - line), data]  # so that lines keep their numbers
        line = first + data.count(b"\n")
    done = subprocess.run(
        [*called, *arguments],
        input=b"".join(parts),
        stdout={"output": None, "error": 2, "none": subprocess.DEVNULL}[output],
        env={**os.environ, "AIFIX_NO_HISTORY": "1", "AIFIX_NO_PROBE": "1"},  # what it sees is this process, not the run
        check=False,
    )
    return done.returncode if done.returncode >= 0 else None


PATIENCE = 10
"""Seconds for which an installer that is at work is waited for."""


def why_not(error: BaseException) -> str:
    """Say in a few words what kept aifix from its work."""
    at: BaseException | None = error
    while at is not None:
        if isinstance(at, MemoryError) or "failed to map segment" in str(at) or "llocate memory" in str(at):
            return "there is not enough memory (ulimit -v, or a limit of the container)"
        at = at.__cause__ or at.__context__
    if isinstance(error, ReplacedError) or replaced():
        return "aifix was replaced or removed while it ran"
    if isinstance(error, RuntimeError) and "thread" in str(error):
        return "no thread can be started (ulimit -u, or a limit of the container)"
    if isinstance(error, OSError):
        said = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
    else:
        said = f"{type(error).__name__}: {str(error)[:200]} (a fault of aifix; AIFIX_TRACEBACK=1 shows where)"
    return "".join([c if c.isprintable() else " " for c in said])


def say_not_diagnosed(options: dict[str, object], error: BaseException) -> int:
    """Say in one line that nothing is known of the input, and give the status of what could not be read."""
    try:
        sys.stderr.write(f"aifix: the input passed whole, but cannot be diagnosed: {why_not(error)}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass
    return 0 if options.get("exit_zero") else 2


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
