from __future__ import annotations

import io
import os
import sys

import pytest

from aifix.show.stream import DEFAULT_WIDTH, WIDEST, display_of


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "terminal", "choice", "colour"),
    [
        ({}, True, None, True),
        ({}, False, None, False),
        ({"NO_COLOR": "1"}, True, None, False),
        ({"NO_COLOR": ""}, True, None, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, None, False),
        ({"FORCE_COLOR": "1"}, False, None, True),
        ({"FORCE_COLOR": "0"}, False, None, False),
        ({"TERM": "dumb"}, True, None, False),
        ({"NO_COLOR": "1"}, False, True, True),
        ({"FORCE_COLOR": "1"}, True, False, False),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="asks a real console on Windows")
def test_colour(environ: dict[str, str], terminal: bool, choice: bool | None, colour: bool) -> None:
    stream = Terminal() if terminal else io.StringIO()
    assert display_of(stream, colour=choice, environ=environ).colour is colour


def test_width() -> None:
    assert display_of(io.StringIO(), environ={}).width == DEFAULT_WIDTH
    assert display_of(io.StringIO(), environ={"COLUMNS": "100"}).width == 100
    assert display_of(io.StringIO(), environ={"COLUMNS": "400"}).width == WIDEST
    assert display_of(io.StringIO(), environ={"COLUMNS": "wide"}).width == DEFAULT_WIDTH


def test_a_closed_stream_is_no_terminal() -> None:
    stream = io.StringIO()
    stream.close()
    assert display_of(stream, environ={}) == (DEFAULT_WIDTH, False, "utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
def test_a_real_terminal_tells_its_width() -> None:
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    try:
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 97, 0, 0))
        with os.fdopen(os.dup(follower), "w", encoding="ascii") as stream:
            assert display_of(stream, environ={}) == (97, True, "ascii")
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
        with os.fdopen(os.dup(follower), "w", encoding="ascii") as stream:
            assert display_of(stream, environ={}).width == DEFAULT_WIDTH
    finally:
        os.close(leader)
        os.close(follower)
