"""The fixes of the chosen diagnosis, in the order in which to try them: copied, or made into a patch of the user's code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from aifix.show.safe import one_line
from aifix_tui import pages

if TYPE_CHECKING:
    from aifix.fixes.proposal import Proposal
    from aifix.model import Diagnosis, Fix
    from aifix_tui.app import AifixApp
    from aifix_tui.case import Case


class FixesPane(OptionList):
    """Lists the fixes, and those that are not offered here with what they wait for."""

    app: AifixApp
    DEFAULT_CSS = """
    FixesPane, FixesPane:focus { border: none; background: $background; height: 1fr; }
    """

    class Took(Message):
        """Somebody goes to try a fix."""

        def __init__(self, diagnosis: Diagnosis, fix: Fix) -> None:
            self.diagnosis = diagnosis
            self.fix = fix
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, markup=False)
        self._case: Case | None = None
        self._diagnosis: Diagnosis | None = None
        self._fixes: list[Fix] = []

    @property
    def chosen(self) -> Fix | None:
        """The fix that is highlighted, else the first one; None on one that is not offered."""
        index = self.highlighted or 0
        return self._fixes[index] if index < len(self._fixes) else None

    def show(self, case: Case | None, diagnosis: Diagnosis | None) -> None:
        """Show the fixes of a diagnosis."""
        self._case, self._diagnosis = case, diagnosis
        self._fixes = list(diagnosis.fixes) if diagnosis else []
        self.clear_options()
        if diagnosis is None:
            return
        from aifix import api
        from aifix.show.handbook import without_case

        rule = api.rule_base().get(diagnosis.id)
        templates = {one.id: one for one in rule.fixes} if rule else {}
        past = pages.learned(diagnosis)
        options = [Option(pages.fix(number, one, templates.get(one.id), past.get(one.id, ""))) for number, one in enumerate(self._fixes, start=1)]
        offered = {one.id for one in self._fixes}
        options += [Option(pages.left_out(one, one.title)) for one in (without_case(rule).fixes if rule else ()) if one.id not in offered]
        self.add_options(options)
        if self._fixes:
            self.highlighted = 0

    def copy(self) -> None:
        """Copy the command of the highlighted fix."""
        fix = self.chosen
        if self.app.copy(pages.command_of(fix) if fix is not None else "") and fix is not None:
            self._took(fix)

    @on(OptionList.OptionSelected)
    def _offer(self, event: OptionList.OptionSelected) -> None:
        from aifix_tui.dialogs import CopyDialog

        event.stop()
        if event.option_index < len(self._fixes):
            fix = self._fixes[event.option_index]

            def copied(text: str | None) -> None:
                if text and self.app.copy(text):
                    self._took(fix)

            self.app.push_screen(CopyDialog(fix.title, pages.copied(fix.do, notes=True)), copied)

    def _took(self, fix: Fix) -> None:
        if self._diagnosis is not None:
            self.post_message(self.Took(self._diagnosis, fix))

    # ------------------------------------------------------------ as a patch

    def patch(self) -> None:
        """Make a patch of the user's code for the highlighted fix."""
        if self._case is not None and self._diagnosis is not None and self.chosen is not None:
            self._propose(self._case, self._diagnosis, self.chosen)

    @work(thread=True, exclusive=True, group="patch")
    def _propose(self, case: Case, diagnosis: Diagnosis, fix: Fix) -> None:
        """Parse the sources that the log names; in a thread."""
        try:
            from aifix.fixes.proposal import propose
        except ImportError:
            self.app.call_from_thread(self._proposed, None, "This build of aifix makes no patches.")
            return
        from aifix import api

        assert case.document is not None  # noqa: S101 - there is no fix without one
        path = case.log.path.absolute()
        try:
            proposal = propose(case.document, diagnosis, fix, api.rule_base(), folders=[str(path.parent), str(Path.cwd())], log=str(path))
        except ImportError as error:  # LibCST is an extra
            self.app.call_from_thread(self._proposed, None, f"Patches need LibCST: pip install 'aifix-kb[fix]' ({error})")
            return
        why_not = proposal.refusal or "This fix is to be done by hand: c copies it."
        self.app.call_from_thread(self._proposed, proposal if proposal.patch else None, why_not)

    def _proposed(self, proposal: Proposal | None, why_not: str) -> None:
        if proposal is None:
            self.notify(one_line(why_not), title="No patch", severity="warning", markup=False)
            return
        from aifix_tui.patch_dialog import PatchDialog

        def closed(applied: str | None) -> None:
            if applied:
                self._took(proposal.fix)

        self.app.push_screen(PatchDialog(proposal), closed)
