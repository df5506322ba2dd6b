"""What carries each output of the child: a pseudo-terminal where it would have had a terminal, a pipe elsewhere.

Outputs that go to the same place share one carrier, so that their order stays exact: both on one terminal, or after `2>&1`.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from dataclasses import dataclass, field

OUT, ERR = 1, 2
WIDE = 1 << 20


@dataclass
class Carrier:
    """One way from the child to us."""

    source: int
    """Our end."""
    theirs: int
    """The child's end."""
    target: int
    """The descriptor of ours to which it leads."""
    pty: bool = False
    translated: bool = False
    """Whether the terminal layer writes a carriage return before each line feed."""


@dataclass
class Carriers:
    """All ways to and from the child."""

    out: Carrier
    err: Carrier
    interactive: bool = False
    """Whether the child's input is the pseudo-terminal too, and it is the child's controlling terminal."""
    listed: list[Carrier] = field(default_factory=list)

    def close_theirs(self) -> None:
        """Close the child's ends here, so that the end of the output is seen."""
        for carrier in self.listed:
            os.close(carrier.theirs)

    def close_ours(self) -> None:
        """Close our ends."""
        for carrier in self.listed:
            try:
                os.close(carrier.source)
            except OSError:
                continue


def is_terminal(descriptor: int) -> bool:
    """Tell whether a descriptor is open on a terminal."""
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def same_place(one: int, other: int) -> bool:
    """Tell whether two descriptors lead to the same file, pipe or terminal."""
    try:
        first, second = os.fstat(one), os.fstat(other)
    except OSError:
        return False
    if stat.S_ISCHR(first.st_mode) and stat.S_ISCHR(second.st_mode):
        return first.st_rdev == second.st_rdev
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)


def open_carriers(*, divert: bool = False) -> Carriers:
    """Open what the child's outputs need.

    Args:
        divert: carry the child's standard output to standard error.

    """
    to_out = ERR if divert else OUT
    interactive = sys.platform != "win32" and not divert and is_terminal(0) and is_terminal(OUT) and same_place(0, OUT)
    out = _carrier(to_out, raw=interactive)
    interactive = interactive and out.pty
    if to_out == ERR or same_place(OUT, ERR):
        return Carriers(out, out, interactive, [out])
    err = _carrier(ERR, raw=False)
    return Carriers(out, err, interactive, [out, err])


def _carrier(target: int, *, raw: bool) -> Carrier:
    """Open a pseudo-terminal for a terminal, where the machine has one left; else a pipe."""
    if sys.platform != "win32" and is_terminal(target):
        with contextlib.suppress(OSError):
            return _terminal(target, raw=raw)
    return _pipe(target)


def _pipe(target: int) -> Carrier:
    source, theirs = os.pipe()
    return Carrier(source, theirs, target)


def _terminal(target: int, *, raw: bool) -> Carrier:
    """Open a pseudo-terminal that looks like the terminal at `target`.

    Args:
        target: our own descriptor.
        raw: whether our own terminal will pass everything through as it is, so that the pseudo-terminal has to write carriage returns.

    """
    import termios

    source, theirs = os.openpty()
    try:
        attributes = termios.tcgetattr(target)
        if not raw:
            attributes[1] &= ~termios.OPOST
        termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    except termios.error:
        pass
    resize(source, target)
    return Carrier(source, theirs, target, pty=True, translated=raw)


def resize(source: int, target: int) -> None:
    """Give a pseudo-terminal the size of the terminal at `target`; the kernel tells the child."""
    import fcntl
    import termios

    with contextlib.suppress(OSError):
        fcntl.ioctl(source, termios.TIOCSWINSZ, fcntl.ioctl(target, termios.TIOCGWINSZ, b"\0" * 8))


def widen(descriptor: int) -> None:
    """Let a pipe hold more: fewer switches between the processes. Linux only."""
    try:
        import fcntl

        if fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ) < WIDE:  # type: ignore[attr-defined,unused-ignore]  # Linux
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, WIDE)  # type: ignore[attr-defined,unused-ignore]
    except (ImportError, AttributeError, OSError):
        pass
