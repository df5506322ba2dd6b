"""A page of Markdown for a terminal: prose wrapped, code as it is (it is meant to be copied), addresses written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Markdown, TableElement
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from aifix.show.safe import fit_encoding, sanitise_block

if TYPE_CHECKING:
    from aifix.show.stream import Display

WIDEST = 100
"""Columns of a page; longer lines are hard to read."""
INDENT = "    "


class _Code(CodeBlock):
    """Code on lines of its own, coloured, indented, never wrapped or padded."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        text = Syntax("", self.lexer_name, theme="ansi_dark", background_color="default").highlight(str(self.text).rstrip())
        text.rstrip()
        yield Text("\n", no_wrap=True, overflow="ignore").join([Text(INDENT) + line for line in text.split("\n")])
        yield Text("")


class _Table(TableElement):
    """A table whose cells are broken, never shortened."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in super().__rich_console__(console, options):
            if isinstance(part, Table):
                for column in part.columns:
                    column.overflow = "fold"
            yield part


class _Page(Markdown):
    elements: ClassVar = {**Markdown.elements, "fence": _Code, "code_block": _Code, "table_open": _Table}


def render(text: str, display: Display) -> str:
    """Render Markdown.

    Args:
        text: CommonMark with tables.
        display: what the stream can show.

    """
    console = Console(width=min(display.width, WIDEST), force_terminal=True, color_system="standard" if display.colour else None, highlight=False)
    page = _Page(sanitise_block(text), hyperlinks=False)
    with console.capture() as captured:
        console.print(page, crop=False)
    out = captured.get() if display.colour else Text.from_ansi(captured.get()).plain
    lines = [line.rstrip() for line in out.split("\n")]
    kept = [line for number, line in enumerate(lines) if line or (number and lines[number - 1])]  # blocks bring a blank line each
    return fit_encoding("\n".join(kept).strip("\n") + "\n", display.encoding)
