"""What a stream can show: its width, whether it takes colours, and its encoding."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

DEFAULT_WIDTH = 80
WIDEST = 120
"""Lines of prose longer than this are hard to read; a wider terminal gets no wider report."""


class Display(NamedTuple):
    """What a stream can show."""

    width: int = DEFAULT_WIDTH
    colour: bool = False
    encoding: str = "utf-8"


def display_of(stream: TextIO, *, colour: bool | None = None, environ: Mapping[str, str] = os.environ) -> Display:
    """Ask a stream what it can show.

    Args:
        stream: Where the report goes.
        colour: The user's explicit choice; None asks NO_COLOR, FORCE_COLOR, TERM and the stream, in this order.
        environ: The environment.
    """
    terminal = _is_terminal(stream)
    if colour is None:
        colour = _wants_colour(environ, terminal=terminal)
    if colour and terminal:
        colour = _enable_colours(stream)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return Display(_width(stream, environ, terminal=terminal), colour, encoding)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # no such method, or the stream is closed
        return False


def _wants_colour(environ: Mapping[str, str], *, terminal: bool) -> bool:
    if environ.get("NO_COLOR"):  # https://no-color.org: set and not empty
        return False
    force = environ.get("FORCE_COLOR", environ.get("CLICOLOR_FORCE", ""))
    if force and force != "0":
        return True
    return terminal and environ.get("TERM") != "dumb"


def _width(stream: TextIO, environ: Mapping[str, str], *, terminal: bool) -> int:
    columns = environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return min(int(columns), WIDEST)
    if terminal:
        try:
            found = os.get_terminal_size(stream.fileno()).columns
        except (OSError, ValueError):
            found = 0
        if found > 0:  # a fresh pseudo-terminal may say 0
            return min(found, WIDEST)
    return DEFAULT_WIDTH


if sys.platform == "win32":

    def _enable_colours(stream: TextIO) -> bool:
        """Switch a Windows console to escape sequences; consoles older than Windows 10 refuse."""
        import ctypes
        import msvcrt

        kernel = ctypes.windll.kernel32
        handle = msvcrt.get_osfhandle(stream.fileno())
        mode = ctypes.c_uint32()
        if not kernel.GetConsoleMode(handle, ctypes.byref(mode)):
            return False
        return bool(kernel.SetConsoleMode(handle, mode.value | 0x0004))  # ENABLE_VIRTUAL_TERMINAL_PROCESSING

else:

    def _enable_colours(stream: TextIO) -> bool:
        """Terminals elsewhere take colours as they are."""
        del stream
        return True
