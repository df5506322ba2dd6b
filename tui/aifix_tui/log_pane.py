"""The log of a case, with its search below it, one rank's lines alone, and a line that says where one is."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import Vertical
from textual.reactive import reactive
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from aifix.show.layout import counted
from aifix.show.safe import one_line
from aifix_tui.logview import LogView

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from aifix_tui.case import Case


class LogPane(Vertical):
    """Shows the log of the open case."""

    DEFAULT_CSS = """
    LogPane { height: 1fr; }
    LogPane #state { height: 1; color: $text-muted; padding: 0 1; }
    LogPane #search { display: none; height: 1; border: none; padding: 0 1; background: $panel; }
    """

    rank: reactive[int | None] = reactive(None)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._case: Case | None = None
        self._searched = ""
        self._whole_rank = False

    def compose(self) -> ComposeResult:
        """Lay out the pane."""
        yield LogView(id="log")
        yield Input(placeholder="Search the log (Enter: next, Esc: close)", id="search", compact=True)
        yield Static("", id="state", markup=False)

    @property
    def view(self) -> LogView:
        """The lines."""
        return self.query_one("#log", LogView)

    def show(self, case: Case) -> None:
        """Show the log of a case."""
        self._case, self._searched = case, ""
        self.rank = None
        self.view.open(case.log)

    def prove(self, proof: dict[int, str], others: dict[int, str]) -> None:
        """Mark the lines that prove something, and go to the first of them.

        Args:
            proof: of the chosen diagnosis, by their numbers.
            others: of the other ones.
        """
        self.view.mark(proof, others)
        if proof:
            self.view.go_to(min(proof))

    @on(LogView.Moved)
    def say(self) -> None:
        """Say where in the log one is."""
        case = self._case
        if case is None:
            return
        parts = [f"line {self.view.number:,} of {case.log.lines:,}"]
        if self.rank is not None:
            thinned = case.document is not None and case.document.truncated and not self._whole_rank
            parts.append(f"rank {self.rank} only: {self.view.rows:,} lines" + (" of those that aifix kept" if thinned else ""))
        elif ranks := case.ranks():
            parts.append(counted(len(ranks), "rank") + " (r)")
        self.query_one("#state", Static).update(" · ".join([*parts, self._searched] if self._searched else parts))

    @on(LogView.Whole)
    def _whole(self, event: LogView.Whole) -> None:
        from aifix_tui.dialogs import LineDialog

        self.app.push_screen(LineDialog(event.number, event.text))

    # ------------------------------------------------------------ search

    def search(self) -> None:
        """Open the search."""
        search = self.query_one("#search", Input)
        search.display = True
        self.screen.set_focus(search)

    def close_search(self) -> bool:
        """Close the search and forget its words; false where it was not open."""
        search = self.query_one("#search", Input)
        if not search.display:
            return False
        search.display = False
        self.view.look_for("")
        self.screen.set_focus(self.view)
        return True

    @on(Input.Changed, "#search")
    def _searching(self, event: Input.Changed) -> None:
        self.view.look_for(event.value)

    @on(Input.Submitted, "#search")
    def _submitted(self) -> None:
        self.query_one("#search", Input).display = False
        self.screen.set_focus(self.view)
        self.find(1)

    def find(self, step: int) -> None:
        """Go to the next hit of the search, or to the one before."""
        if self._case is not None and self.view.words:
            self._searched = f"searching “{self.view.words}” …"
            self.say()
            self._seek(self._case, self.view.words, self.view.number, step, self.view.shown)

    @work(thread=True, exclusive=True, group="find")
    def _seek(self, case: Case, words: str, start: int, step: int, shown: Sequence[int] | None) -> None:
        """Look for words; runs in a thread."""
        worker = get_current_worker()
        found: int | None = start
        seen: set[int] = set()
        while True:
            found = case.log.find(words, found or start, backwards=step < 0, stop=lambda: worker.is_cancelled)
            if found is None or found in seen or shown is None or _holds(shown, found):
                break
            seen.add(found)
        if found is not None and shown is not None and not _holds(shown, found):
            found = None
        if not worker.is_cancelled:
            self.app.call_from_thread(self._found, case, words, found)

    def _found(self, case: Case, words: str, number: int | None) -> None:
        if case is not self._case:
            return
        self._searched = f"“{one_line(words)}” is not in the log" if number is None else f"“{one_line(words)}” n next, N previous"
        if number is not None:
            self.view.go_to(number)
        self.say()

    # ------------------------------------------------------------ one rank alone

    def next_rank(self) -> None:
        """Show one rank's lines alone, the next rank, then all again."""
        ranks = self._case.ranks() if self._case else []
        if not ranks:
            self.notify("The lines of this log name no ranks")
            return
        self.rank = ranks[0] if self.rank is None else next((rank for rank in ranks if rank > self.rank), None)

    def watch_rank(self, rank: int | None) -> None:
        """Filter the log."""
        case = self._case
        if case is None:
            return
        self._whole_rank = False
        self.view.only(None if rank is None else case.lines_of(rank))
        self.say()
        pattern = case.rank_pattern(rank) if rank is not None and case.document is not None and case.document.truncated else None
        if rank is not None and pattern is not None:
            self._look_through(case, rank, pattern)

    @work(thread=True, exclusive=True, group="rank")
    def _look_through(self, case: Case, rank: int, pattern: re.Pattern[bytes]) -> None:
        """Find all lines of a rank in a log of which aifix kept parts; in a thread."""
        worker = get_current_worker()
        numbers = case.log.matching(pattern, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._looked_through, case, rank, numbers)

    def _looked_through(self, case: Case, rank: int, numbers: Sequence[int]) -> None:
        if case is self._case and rank == self.rank and numbers:
            self._whole_rank = True
            self.view.only(numbers)
            self.say()


def _holds(numbers: Sequence[int], number: int) -> bool:
    """Look a number up in sorted ones."""
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number
