"""The log, line by line as it is scrolled to: the proof marked by a sign and a style, a cursor, search, one rank's lines alone."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual import events

    from aifix_tui.logfile import LogFile

PROOF = "▶"
OTHER = "·"
HERE = "›"


class LogView(ScrollView, can_focus=True):
    """Shows a log file; it asks for the lines on the screen and no others."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        Binding("home,g", "ends(0)", "First line", show=False),
        Binding("end,G", "ends(1)", "Last line", show=False),
        Binding("left", "shift(-16)", "Left", show=False),
        Binding("right", "shift(16)", "Right", show=False),
        Binding("enter", "whole", "Whole line", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"log--number", "log--proof", "log--other", "log--cursor", "log--found", "log--text"}
    DEFAULT_CSS = """
    LogView { background: $surface; color: $foreground; }
    LogView .log--text { color: $foreground; }
    LogView .log--number { color: $text-muted; }
    LogView .log--proof { background: $error-muted; color: $text; text-style: bold; }
    LogView .log--other { background: $warning-muted; color: $text; }
    LogView .log--cursor { background: $boost; text-style: underline; }
    LogView .log--found { text-style: bold reverse; }
    """

    cursor: reactive[int] = reactive(0)

    class Whole(Message):
        """A line is to be shown whole."""

        def __init__(self, number: int, text: str) -> None:
            self.number = number
            self.text = text
            super().__init__()

    class Moved(Message):
        """The cursor went to another line."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.log_file: LogFile | None = None
        self.words = ""
        self._proof: Mapping[int, str] = {}
        self._others: Mapping[int, str] = {}
        self._only: Sequence[int] | None = None
        self._widest = 0

    # ------------------------------------------------------------ what to show

    def open(self, log: LogFile | None) -> None:
        """Show another log from its start."""
        self.log_file = log
        self._proof, self._others, self._only, self._widest, self.words = {}, {}, None, 0, ""
        self.cursor = 0
        self.scroll_to(0, 0, animate=False, immediate=True)
        self.grew()

    def grew(self) -> None:
        """Take note of lines that were indexed since."""
        self.virtual_size = Size(self._widest + self._gutter + 1, self.rows)
        self.refresh()

    def mark(self, proof: Mapping[int, str], others: Mapping[int, str]) -> None:
        """Mark the proof of the chosen diagnosis, and that of the others."""
        self._proof, self._others = proof, others
        self.refresh()

    def only(self, numbers: Sequence[int] | None) -> None:
        """Show these lines alone (None: all), and stay near the line of the cursor."""
        number = self.number
        self._only = numbers
        self.grew()
        self.go_to(number)

    def look_for(self, words: str) -> None:
        """Mark some words wherever they stand."""
        self.words = words
        self.refresh()

    @property
    def shown(self) -> Sequence[int] | None:
        """The numbers of the lines that are shown alone; None: all."""
        return self._only

    @property
    def rows(self) -> int:
        """How many lines can be scrolled through."""
        if self._only is not None:
            return len(self._only)
        return self.log_file.lines if self.log_file else 0

    @property
    def number(self) -> int:
        """The number of the line under the cursor."""
        return self._number(self.cursor)

    def _number(self, row: int) -> int:
        if self._only is None:
            return row + 1
        return self._only[min(row, len(self._only) - 1)] if self._only else 0

    @property
    def _gutter(self) -> int:
        return len(str(self.log_file.lines if self.log_file else 0)) + 5

    # ------------------------------------------------------------ moving

    def go_to(self, number: int) -> bool:
        """Put the cursor on a line, with some lines above it; false when it is filtered out."""
        if self._only is None:
            row, there = number - 1, True
        else:
            row = bisect_left(self._only, number)
            there = row < len(self._only) and self._only[row] == number
        self.cursor = max(0, min(row, self.rows - 1))
        height = self.scrollable_content_region.height or 10
        self.scroll_to(0, max(0, self.cursor - height // 3), animate=False, immediate=True)
        return there

    def next_proof(self, step: int = 1) -> None:
        """Go to the next line of the proof, starting over at the end."""
        numbers = sorted(self._proof)
        if not numbers:
            return
        here = self.number
        at = bisect_left(numbers, here + 1) if step > 0 else bisect_left(numbers, here) - 1
        self.go_to(numbers[at % len(numbers)])

    def action_move(self, by: int) -> None:
        """Move the cursor and keep it in sight."""
        self.cursor = max(0, min(self.cursor + by, self.rows - 1))
        self.scroll_to_region(Region(int(self.scroll_offset.x), self.cursor, 1, 1), animate=False, immediate=True)

    def action_page(self, by: int) -> None:
        """Move by a page."""
        self.action_move(by * max(1, self.scrollable_content_region.height - 1))

    def action_ends(self, end: int) -> None:
        """Go to the first or last line."""
        self.action_move(self.rows if end else -self.rows)

    def action_shift(self, by: int) -> None:
        """Scroll sideways."""
        self.scroll_to(max(0, self.scroll_offset.x + by), self.scroll_offset.y, animate=False, immediate=True)

    def action_whole(self) -> None:
        """Ask to show the line under the cursor whole."""
        if self.log_file is not None and self.rows:
            self.post_message(self.Whole(self.number, self._text(self.number)))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse is; a second click shows the line whole."""
        row = event.y + int(self.scroll_offset.y)
        if row < self.rows:
            self.cursor = row
            if event.chain == 2:
                self.action_whole()

    def watch_cursor(self) -> None:
        """Paint the cursor's line, and tell others."""
        self.refresh()
        self.post_message(self.Moved())

    # ------------------------------------------------------------ painting

    def _text(self, number: int) -> str:
        if self.log_file is None:
            return ""
        return self.log_file.text(number, self._proof.get(number) or self._others.get(number, ""))

    def render_line(self, y: int) -> Strip:
        """Give one line of the screen."""
        left, top = int(self.scroll_offset.x), int(self.scroll_offset.y)
        width = self.scrollable_content_region.width
        base = self.get_component_rich_style("log--text")
        row = y + top
        if self.log_file is None or row >= self.rows:
            return Strip.blank(width, base)
        number = self._number(row)
        text = self._text(number)
        sign, style = " ", base
        if number in self._proof:
            sign, style = PROOF, self.get_component_rich_style("log--proof")
        elif number in self._others:
            sign, style = OTHER, self.get_component_rich_style("log--other")
        cursor = HERE if row == self.cursor else " "
        if row == self.cursor and self.has_focus:
            style += Style(underline=True)
        gutter = self._gutter
        head = Segment(f"{cursor}{sign}{number:>{gutter - 5}} │ ", self.get_component_rich_style("log--number") if sign == " " else style)
        body = Strip(self._segments(text, style))
        if body.cell_length > self._widest:
            self._widest = body.cell_length
            self.call_later(self.grew)
        body = body.crop(left, left + max(0, width - gutter))
        return Strip([head, *body]).adjust_cell_length(width, style)

    def _segments(self, text: str, style: Style) -> list[Segment]:
        """Split a line so that the words that were looked for stand out."""
        if not self.words:
            return [Segment(text, style)]
        found = self.get_component_rich_style("log--found")
        low, words = text.lower(), self.words.lower()
        if len(low) != len(text):  # a few capitals are longer in small letters: then the places do not fit
            return [Segment(text, style)]
        segments: list[Segment] = []
        done = 0
        at = low.find(words)
        while at >= 0:
            segments += [Segment(text[done:at], style), Segment(text[at : at + len(words)], style + found)]
            done = at + len(words)
            at = low.find(words, done)
        return [*segments, Segment(text[done:], style)]
