"""A case: the diagnoses as a tree at the left; at the right the log at its proof, fixes, meaning, why, and probes."""

from __future__ import annotations

import time
from bisect import bisect_left
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import ContentSwitcher, Footer, Input, OptionList, Static, Tab, Tabs
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from aifix.show.layout import counted
from aifix_tui import pages, tried
from aifix_tui.logview import LogView
from aifix_tui.probes_pane import ProbesPane

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from aifix.fixes.proposal import Proposal
    from aifix.model import Diagnosis, Fix, Report
    from aifix_tui.app import AifixApp
    from aifix_tui.case import Case, Node
    from aifix_tui.past import Told

TABS = {"log": "Log", "fixes": "Fixes", "meaning": "Meaning", "why": "Why", "probes": "Probes"}
TALL, WIDE = 34, 100
"""From this size on the log stays in sight above the other tabs."""
EMPTY = "No log is open.\n\nPress o to open one, w for the wizard, b for the handbook."


class CaseScreen(Screen[None]):
    """Shows what aifix says about the open log."""

    app: AifixApp
    AUTO_FOCUS = "#tree"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "tab('log')", "Log", show=False),
        Binding("f", "tab('fixes')", "Fixes"),
        Binding("m", "tab('meaning')", "Meaning", show=False),
        Binding("y", "tab('why')", "Why", show=False),
        Binding("p", "tab('probes')", "Probes", show=False),
        Binding("slash", "search", "Search", key_display="/"),
        Binding("n", "again(1)", "Next", show=False),
        Binding("N", "again(-1)", "Previous", show=False),
        Binding("e", "proof(1)", "Proof"),
        Binding("E", "proof(-1)", "Previous proof", show=False),
        Binding("r", "rank", "Rank"),
        Binding("c", "copy", "Copy"),
        Binding("v", "patch", "Patch", show=False),
        Binding("h", "page", "Rule", show=False),
        Binding("a", "probe", "Probe all", show=False),
        Binding("x", "cancel", "Call off", show=False),
        Binding("t", "tried", "Helped?", show=False),
    ]
    DEFAULT_CSS = """
    CaseScreen #title { height: 1; background: $panel; padding: 0 1; }
    CaseScreen #tree {
        width: 30%; min-width: 26; max-width: 52; height: 1fr; border: none; border-right: vkey $primary 50%; background: $background;
    }
    CaseScreen #met { height: auto; max-height: 2; padding: 0 1; color: $text-warning; display: none; }
    CaseScreen #tried { height: 1; padding: 0 1; background: $panel; display: none; }
    CaseScreen #right { width: 1fr; }
    CaseScreen #tabs { height: 1; }
    CaseScreen #tabs Underline { display: none; }
    CaseScreen #tabs Tab.-active { text-style: bold reverse; }
    CaseScreen #logpane { height: 1fr; }
    CaseScreen #state { height: 1; color: $text-muted; padding: 0 1; }
    CaseScreen #search { display: none; height: 1; border: none; padding: 0 1; background: $panel; }
    CaseScreen #details { height: 1fr; }
    CaseScreen.-both #details { border-top: hkey $primary 50%; }
    CaseScreen #details VerticalScroll { padding: 0 1; }
    CaseScreen #fixes { border: none; background: $background; height: 1fr; }
    """

    rank: reactive[int | None] = reactive(None)

    def __init__(self) -> None:
        """Make the screen; `show` gives it a case."""
        super().__init__()
        self._case: Case | None = None
        self._shown: list[Node] = []
        self._before: dict[str, float] = {}
        self._fixes: list[Fix] = []
        self._searched = ""
        self._whole_rank = False
        self._taken: tuple[Diagnosis, Fix] | None = None

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Static(EMPTY.split("\n", 1)[0], id="title", markup=False)
        yield Static("", id="met", markup=False)
        with Horizontal():
            yield OptionList(id="tree", markup=False)
            with Vertical(id="right"):
                yield Tabs(*[Tab(label, id=name) for name, label in TABS.items()], id="tabs")
                with Vertical(id="logpane"):
                    yield LogView(id="log")
                    yield Input(placeholder="Search the log (Enter: next, Esc: close)", id="search", compact=True)
                    yield Static("", id="state", markup=False)
                with ContentSwitcher(id="details", initial="fixes"):
                    yield OptionList(id="fixes", markup=False)
                    with VerticalScroll(id="meaning"):
                        yield Static(EMPTY, id="meaning-text", markup=False)
                    with VerticalScroll(id="why"):
                        yield Static("", id="why-text", markup=False)
                    yield ProbesPane(id="probes")
        yield Static("", id="tried", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Say so when no log is open."""
        if self._case is None:
            self.action_tab("meaning")

    # ------------------------------------------------------------ a case comes

    def show(self, case: Case) -> None:
        """Show a case: its log at once, its diagnoses when they are ready."""
        before, self._case = self._case, case
        self._shown, self._before, self._fixes, self._taken = [], {}, [], None
        self._say_met()
        self._say_tried()
        self.rank = None
        self._view.open(case.log)
        if before is not None and before is not case:
            before.log.close()
        tree = self.query_one("#tree", OptionList)
        tree.clear_options()
        tree.loading = True
        self.query_one("#meaning-text", Static).update("Reading …")
        self.query_one("#why-text", Static).update("")
        self.query_one("#fixes", OptionList).clear_options()
        self.query_one(ProbesPane).show(None, None)
        self._headline("reading …")
        self.query_one("#tabs", Tabs).active = "log"
        self._arrange()
        self.set_focus(None)
        self._read(case)

    @work(thread=True, exclusive=True, group="read")
    def _read(self, case: Case) -> None:
        """Index and diagnose the log; runs in a thread."""
        worker = get_current_worker()
        call = self.app.call_from_thread
        try:
            for step in case.log.index():
                if worker.is_cancelled:
                    return
                call(self._indexed, case, step)
            call(self._indexed, case, case.log.size)
            case.diagnose()
        except (OSError, ValueError) as error:  # the file vanished, or another log was opened meanwhile
            if not worker.is_cancelled:
                call(self._failed, case, str(error))
            return
        if not worker.is_cancelled:
            call(self._diagnosed, case)

    def _indexed(self, case: Case, done: int) -> None:
        if case is self._case:
            self._view.grew()
            if done < case.log.size:
                self._headline(f"reading … {done * 100 // max(1, case.log.size)} %")

    def _failed(self, case: Case, error: str) -> None:
        if case is self._case:
            self.query_one("#tree", OptionList).loading = False
            self._headline(f"cannot be read: {pages.one_line(error)}")

    def _diagnosed(self, case: Case) -> None:
        if case is not self._case or case.report is None:
            return
        tree = self.query_one("#tree", OptionList)
        tree.loading = False
        self._fill_tree()
        self._headline("")
        self._say()
        self._say_met()
        self._complain(case)
        if self._shown:
            tree.highlighted = 0
        else:
            self._no_diagnosis(case.report)
        if self.focused is None:  # else somebody went on meanwhile
            tree.focus()

    def _fill_tree(self) -> None:
        tree = self.query_one("#tree", OptionList)
        case = self._case
        if case is None or case.report is None:
            return
        self._shown = case.nodes()
        tree.clear_options()
        tree.add_options([Option(pages.node(one, self._before.get(one.diagnosis.id))) for one in self._shown])
        if not self._shown:
            said = "✓ nothing failed" if not case.failed else "? a failure that no rule knows" if case.report.unknown else "✗ failed, cause unseen"
            tree.add_option(Option(pages.text((said, "bold"))))
            tree.highlighted = 0

    def _headline(self, doing: str) -> None:
        case = self._case
        if case is None:
            return
        parts: list[pages.Part | Content] = [("aifix", "bold $primary"), "  ", (case.name if len(case.name) < 60 else Path(case.name).name, "bold")]
        if doing:
            parts += ["  ", (doing, pages.MUTED)]
        elif case.report is not None:
            parts += ["  ", pages.verdict(case.report, len(case.report.diagnoses))]
        self.query_one("#title", Static).update(Content.assemble(*parts))

    def _no_diagnosis(self, report: Report) -> None:
        """Show the case in which there is nothing to choose from."""
        meaning = self.query_one("#meaning-text", Static)
        if report.unknown is not None:
            case = self._case
            meaning.update(pages.unknown(report.unknown))
            if case is not None:
                proof = case.proof(report.unknown)
                self._view.mark(proof, {})
                if proof:
                    self._view.go_to(min(proof))
        elif report.failed:
            meaning.update("The run failed, and its output does not say why. Look at the program's own log files, or at the kernel's (dmesg).")
        else:
            meaning.update("Nothing failed in this log, as far as aifix can tell.")
        self.query_one("#why-text", Static).update("There is no diagnosis to derive.")
        self.query_one("#fixes", OptionList).clear_options()
        self.query_one(ProbesPane).show(None, None)
        self._arrange()

    # ------------------------------------------------------------ a diagnosis is chosen

    @property
    def _view(self) -> LogView:
        return self.query_one("#log", LogView)

    @property
    def chosen(self) -> Diagnosis | None:
        """The diagnosis that is highlighted."""
        index = self.query_one("#tree", OptionList).highlighted
        return self._shown[index].diagnosis if index is not None and index < len(self._shown) else None

    @on(OptionList.OptionHighlighted, "#tree")
    def _highlighted(self) -> None:
        diagnosis, case = self.chosen, self._case
        if diagnosis is None or case is None:
            return
        others: dict[int, str] = {}
        for one in self._shown:
            if one.diagnosis is not diagnosis:
                others |= {item.line: item.text for item in one.diagnosis.evidence}
        proof = case.proof(diagnosis)
        self._view.mark(proof, others)
        if proof:
            self._view.go_to(min(proof))
        self.query_one("#meaning-text", Static).update(pages.meaning(diagnosis))
        self.query_one("#why-text", Static).update(pages.why(diagnosis))
        self._fill_fixes(diagnosis)
        self.query_one(ProbesPane).show(case, diagnosis)
        for name in ("meaning", "why"):
            self.query_one(f"#{name}", VerticalScroll).scroll_home(animate=False)

    @on(OptionList.OptionSelected, "#tree")
    def _entered(self) -> None:
        self.action_tab("fixes")

    def _fill_fixes(self, diagnosis: Diagnosis) -> None:
        from aifix import api
        from aifix.show.handbook import without_case

        base = api.rule_base()
        rule = base.get(diagnosis.id)
        templates = {one.id: one for one in rule.fixes} if rule else {}
        self._fixes = list(diagnosis.fixes)
        fixes = self.query_one("#fixes", OptionList)
        fixes.clear_options()
        past = pages.learned(diagnosis)
        options = [Option(pages.fix(number, one, templates.get(one.id), past.get(one.id, ""))) for number, one in enumerate(diagnosis.fixes, start=1)]
        offered = {one.id for one in diagnosis.fixes}
        options += [Option(pages.left_out(one, one.title)) for one in (without_case(rule).fixes if rule else ()) if one.id not in offered]
        fixes.add_options(options)
        if self._fixes:
            fixes.highlighted = 0

    # ------------------------------------------------------------ tabs and sizes

    def action_tab(self, name: str) -> None:
        """Show a tab and go into it."""
        self.query_one("#tabs", Tabs).active = name
        self._arrange()
        if self._case is not None:
            self.set_focus({"log": self._view, "probes": self.query_one(ProbesPane).list}.get(name, self.query_one(f"#{name}")))

    @on(Tabs.TabActivated)
    def _arrange(self) -> None:
        tab = self.query_one("#tabs", Tabs).active or "log"
        both = self.size.height >= TALL and self.size.width >= WIDE
        self.set_class(both, "-both")
        # Styles, not classes: they hold at once, so that a key typed right after finds its widget.
        self.query_one("#logpane").display = both or tab == "log"
        self.query_one("#details").display = both or tab != "log"
        if tab != "log":
            self.query_one("#details", ContentSwitcher).current = tab
        if self._case is not None and self._case.report is not None and not self._shown and both and tab == "log":
            self.query_one("#details", ContentSwitcher).current = "meaning"

    def on_resize(self, event: events.Resize) -> None:
        """Show more where there is room."""
        del event
        self._arrange()

    # ------------------------------------------------------------ the log

    def action_search(self) -> None:
        """Open the search."""
        if self._case is None:
            return
        if "-both" not in self.classes:
            self.action_tab("log")
        search = self.query_one("#search", Input)
        search.display = True
        self.set_focus(search)

    def on_key(self, event: events.Key) -> None:
        """Close the search by Escape."""
        search = self.query_one("#search", Input)
        if event.key == "escape" and search.display:
            event.stop()
            search.display = False
            self._view.look_for("")
            self.set_focus(self._view)

    @on(Input.Changed, "#search")
    def _searching(self, event: Input.Changed) -> None:
        self._view.look_for(event.value)

    @on(Input.Submitted, "#search")
    def _submitted(self) -> None:
        self.query_one("#search", Input).display = False
        self.set_focus(self._view)
        self._find(1)

    def action_again(self, step: int) -> None:
        """Go to the next or previous hit."""
        if self._view.words:
            self._find(step)

    def _find(self, step: int) -> None:
        if self._case is not None and self._view.words:
            self._searched = f"searching “{self._view.words}” …"
            self._say()
            self._seek(self._case, self._view.words, self._view.number, step, self._view.shown)

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
        self._searched = f"“{pages.one_line(words)}” is not in the log" if number is None else f"“{pages.one_line(words)}” n next, N previous"
        if number is not None:
            self._view.go_to(number)
        self._say()

    @on(LogView.Moved)
    def _say(self) -> None:
        """Say where in the log one is."""
        case = self._case
        if case is None:
            return
        parts = [f"line {self._view.number:,} of {case.log.lines:,}"]
        if self.rank is not None:
            thinned = case.document is not None and case.document.truncated and not self._whole_rank
            parts.append(f"rank {self.rank} only: {self._view.rows:,} lines" + (" of those that aifix kept" if thinned else ""))
        elif ranks := case.ranks():
            parts.append(counted(len(ranks), "rank") + " (r)")
        self.query_one("#state", Static).update(" · ".join([*parts, self._searched] if self._searched else parts))

    @on(LogView.Whole)
    def _whole(self, event: LogView.Whole) -> None:
        from aifix_tui.dialogs import LineDialog

        self.app.push_screen(LineDialog(event.number, event.text))

    def action_proof(self, step: int) -> None:
        """Go to the next line of the proof."""
        if self._case is None:
            return
        if "-both" not in self.classes:
            self.action_tab("log")
        self._view.next_proof(step)

    def action_rank(self) -> None:
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
        self._view.only(None if rank is None else case.lines_of(rank))
        self._say()
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
            self._view.only(numbers)
            self._say()

    # ------------------------------------------------------------ fixes, rule, probes

    def action_copy(self) -> None:
        """Copy the command of the highlighted fix; in the log, the line."""
        if self.focused is self._view:
            self.app.copy(self._view.log_file.text(self._view.number) if self._view.log_file else "")
            return
        index = self.query_one("#fixes", OptionList).highlighted or 0
        if index >= len(self._fixes):
            self.app.copy("")
            return
        if self.app.copy(pages.command_of(self._fixes[index])):
            self._took(self._fixes[index])

    @on(OptionList.OptionSelected, "#fixes")
    def _fix_chosen(self, event: OptionList.OptionSelected) -> None:
        from aifix_tui.dialogs import CopyDialog

        if event.option_index < len(self._fixes):
            fix = self._fixes[event.option_index]

            def copied(text: str | None) -> None:
                if text and self.app.copy(text):
                    self._took(fix)

            self.app.push_screen(CopyDialog(fix.title, pages.copied(fix.do, notes=True)), copied)

    def action_patch(self) -> None:
        """Make a patch of the user's code for the highlighted fix."""
        index = self.query_one("#fixes", OptionList).highlighted or 0
        if self._case is not None and self.chosen is not None and index < len(self._fixes):
            self._propose(self._case, self.chosen, self._fixes[index])

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
            self.notify(pages.one_line(why_not), title="No patch", severity="warning", markup=False)
            return
        from aifix_tui.patch_dialog import PatchDialog

        def closed(applied: str | None) -> None:
            if applied:
                self._took(proposal.fix)

        self.app.push_screen(PatchDialog(proposal), closed)

    # ------------------------------------------------------------ did it help?

    def _took(self, fix: Fix) -> None:
        """Note that somebody goes to try a fix, to ask later whether it helped."""
        case, chosen = self._case, self.chosen
        if case is None or chosen is None:
            return
        self._taken = (chosen, fix)
        self._say_tried()
        incident = case.past.incident
        if incident is not None:
            tried.note(tried.Tried(incident.number, incident.uid, fix.id, fix.title, chosen.title, time.time()))

    def _say_tried(self) -> None:
        bar = self.query_one("#tried", Static)
        bar.display = self._taken is not None
        if self._taken is not None:
            bar.update(pages.text(("t ", "bold $primary"), "did it help? ", (pages.one_line(self._taken[1].title), "bold")))

    def _say_met(self) -> None:
        met = self._case.met() if self._case is not None else ""
        line = self.query_one("#met", Static)
        line.update(pages.one_line(met))
        line.display = bool(met)

    def _complain(self, case: Case) -> None:
        for message in case.past.messages:
            self.notify(pages.one_line(message), title="History", severity="warning", markup=False)
        case.past.messages.clear()

    def action_tried(self) -> None:
        """Ask whether the fix that was taken, or the highlighted one, helped."""
        from aifix_tui.dialogs import HelpedDialog

        case, chosen = self._case, self.chosen
        index = self.query_one("#fixes", OptionList).highlighted or 0
        if self._taken is None and (chosen is None or index >= len(self._fixes)):
            self.notify("There is no fix here to have tried", severity="warning")
            return
        diagnosis, fix = self._taken or (chosen, self._fixes[index])
        if case is None or diagnosis is None:
            return

        def said(answer: str | None) -> None:
            if answer:
                self._taken = None
                self._say_tried()
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
        self._complain(case)
        if told is not None:
            moved = f"; its chance: {told.before:.2f} → {told.after:.2f}" if told.before is not None and told.after is not None else ""
            self.notify(f"“{pages.one_line(fix.title)}”, failure {told.number} of the history{moved}", title="Noted", markup=False)
        if report is not None:
            self._renew(case, report)

    def _renew(self, case: Case, report: Report) -> None:
        """Show another report of the same case; the chosen diagnosis stays chosen."""
        chosen = self.chosen
        self._before = {one.diagnosis.id: one.diagnosis.confidence for one in self._shown}
        case.report = report
        self._fill_tree()
        index = next((index for index, one in enumerate(self._shown) if chosen and one.diagnosis.id == chosen.id), 0)
        self.query_one("#tree", OptionList).highlighted = index

    async def action_page(self) -> None:
        """Open the rule's page in the handbook."""
        if self.chosen is not None:
            await self.app.show_rule(self.chosen.id)

    def action_probe(self) -> None:
        """Run all passive probes of the diagnosis."""
        if self._case is not None and self._case.report is not None:
            self.action_tab("probes")
            self.query_one(ProbesPane).run_all()

    def action_cancel(self) -> None:
        """Call off the probes that run."""
        if not self.query_one(ProbesPane).cancel():
            self.notify("No probe runs")

    @on(ProbesPane.Examined)
    def _examined(self, event: ProbesPane.Examined) -> None:
        """Take the report in which the machine has spoken: confidences and fixes may have moved."""
        case, chosen = self._case, self.chosen
        if case is None or event.case is not case or case.report is None:
            return
        order = [fix.id for fix in chosen.fixes] if chosen else []
        case.examined = True
        self._renew(case, event.report)
        moved = [
            one for one in self._shown if round(self._before.get(one.diagnosis.id, one.diagnosis.confidence), 2) != round(one.diagnosis.confidence, 2)
        ]
        said = "; ".join(
            f"{one.diagnosis.id} {round(self._before[one.diagnosis.id] * 100)} → {round(one.diagnosis.confidence * 100)} %" for one in moved
        )
        now = self.chosen
        if now is not None and [fix.id for fix in now.fixes] != order:
            said += "; the order of the fixes changed" if said else "The order of the fixes changed"
        self.notify(said or "The verdicts move no confidence", title="This machine has spoken", markup=False)


def _holds(numbers: Sequence[int], number: int) -> bool:
    """Look a number up in sorted ones."""
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number
