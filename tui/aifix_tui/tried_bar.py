"""Did it help? A line below the case asks about the fix that was taken; the answer goes to the history and moves the order of the fixes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.widgets import Static

from aifix.show.safe import one_line
from aifix_tui import pages, tried

if TYPE_CHECKING:
    from aifix.model import Diagnosis, Fix, Report
    from aifix_tui.case import Case
    from aifix_tui.past import Told


class TriedBar(Static):
    """Names the fix that was taken, until somebody says whether it helped."""

    DEFAULT_CSS = """
    TriedBar { height: 1; padding: 0 1; background: $panel; display: none; }
    """

    class Learned(Message):
        """An answer was noted, and a new report ranks the fixes by it."""

        def __init__(self, case: Case, report: Report) -> None:
            self.case = case
            self.report = report
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__("", id=id, markup=False)
        self._case: Case | None = None
        self._taken: tuple[Diagnosis, Fix] | None = None

    def show(self, case: Case) -> None:
        """Begin with another case, of which no fix was taken."""
        self._case, self._taken = case, None
        self._say()

    def take(self, diagnosis: Diagnosis, fix: Fix) -> None:
        """Note that somebody goes to try a fix, to ask later whether it helped."""
        if self._case is None:
            return
        self._taken = (diagnosis, fix)
        self._say()
        incident = self._case.past.incident
        if incident is not None:
            tried.note(tried.Tried(incident.number, incident.uid, fix.id, fix.title, diagnosis.title, time.time()))

    def _say(self) -> None:
        self.display = self._taken is not None
        if self._taken is not None:
            self.update(pages.text(("t ", "bold $primary"), "did it help? ", (one_line(self._taken[1].title), "bold")))

    def complain(self) -> None:
        """Say what went wrong with the history."""
        if self._case is not None:
            for message in self._case.past.messages:
                self.notify(one_line(message), title="History", severity="warning", markup=False)
            self._case.past.messages.clear()

    def ask(self, diagnosis: Diagnosis | None, fix: Fix | None) -> None:
        """Ask whether the fix that was taken helped; else about the one that is given, which somebody may have tried by another way."""
        from aifix_tui.dialogs import HelpedDialog

        if self._taken is not None:
            diagnosis, fix = self._taken
        case = self._case
        if case is None or diagnosis is None or fix is None:
            self.notify("There is no fix here to have tried", severity="warning")
            return

        def said(answer: str | None) -> None:
            if answer:
                self._taken = None
                self._say()
                self._note(case, fix, worked=answer == "yes")

        self.app.push_screen(HelpedDialog(fix.title, diagnosis.title), said)

    @work(thread=True, group="answer")
    def _note(self, case: Case, fix: Fix, *, worked: bool) -> None:
        """Write the answer, and rank the fixes by what is known now; in a thread."""
        assert case.report is not None  # noqa: S101 - there is no fix without one
        told = case.past.answer(case.report, fix.id, worked=worked)
        if told is not None and case.past.incident is not None:
            tried.forget(case.past.incident.uid, fix.id)
        self.app.call_from_thread(self._noted, case, fix, told, case.rank() if told is not None else None)

    def _noted(self, case: Case, fix: Fix, told: Told | None, report: Report | None) -> None:
        if case is not self._case:
            return
        self.complain()
        if told is not None:
            moved = f"; its chance: {told.before:.2f} → {told.after:.2f}" if told.before is not None and told.after is not None else ""
            self.notify(f"“{one_line(fix.title)}”, failure {told.number} of the history{moved}", title="Noted", markup=False)
        if report is not None:
            self.post_message(self.Learned(case, report))
