"""A case: the diagnoses as a tree at the left; at the right the log at its proof, fixes, meaning, why, and probes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import ContentSwitcher, Footer, OptionList, Static, Tab, Tabs
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from aifix.show.safe import one_line
from aifix_tui import pages
from aifix_tui.fixes_pane import FixesPane
from aifix_tui.log_pane import LogPane
from aifix_tui.probes_pane import ProbesPane
from aifix_tui.tried_bar import TriedBar

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from aifix.model import Diagnosis, Report
    from aifix_tui.app import AifixApp
    from aifix_tui.case import Case, Node

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
    CaseScreen #right { width: 1fr; }
    CaseScreen #tabs { height: 1; }
    CaseScreen #tabs Underline { display: none; }
    CaseScreen #tabs Tab.-active { text-style: bold reverse; }
    CaseScreen #details { height: 1fr; }
    CaseScreen.-both #details { border-top: hkey $primary 50%; }
    CaseScreen #details VerticalScroll { padding: 0 1; }
    """

    def __init__(self) -> None:
        """Make the screen; `show` gives it a case."""
        super().__init__()
        self._case: Case | None = None
        self._shown: list[Node] = []
        self._before: dict[str, float] = {}

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Static(EMPTY.split("\n", 1)[0], id="title", markup=False)
        yield Static("", id="met", markup=False)
        with Horizontal():
            yield OptionList(id="tree", markup=False)
            with Vertical(id="right"):
                yield Tabs(*[Tab(label, id=name) for name, label in TABS.items()], id="tabs")
                yield LogPane(id="logpane")
                with ContentSwitcher(id="details", initial="fixes"):
                    yield FixesPane(id="fixes")
                    with VerticalScroll(id="meaning"):
                        yield Static(EMPTY, id="meaning-text", markup=False)
                    with VerticalScroll(id="why"):
                        yield Static("", id="why-text", markup=False)
                    yield ProbesPane(id="probes")
        yield TriedBar(id="tried")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Say so when no log is open."""
        if self._case is None:
            self.action_tab("meaning")

    # ------------------------------------------------------------ a case comes

    def show(self, case: Case) -> None:
        """Show a case: its log at once, its diagnoses when they are ready."""
        before, self._case = self._case, case
        self._shown, self._before = [], {}
        self._say_met()
        self._tried.show(case)
        self._log.show(case)
        if before is not None and before is not case:
            before.log.close()
        tree = self.query_one("#tree", OptionList)
        tree.clear_options()
        tree.loading = True
        self.query_one("#meaning-text", Static).update("Reading …")
        self.query_one("#why-text", Static).update("")
        self._fixes.show(None, None)
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
            self._log.view.grew()
            if done < case.log.size:
                self._headline(f"reading … {done * 100 // max(1, case.log.size)} %")

    def _failed(self, case: Case, error: str) -> None:
        if case is self._case:
            self.query_one("#tree", OptionList).loading = False
            self._headline(f"cannot be read: {one_line(error)}")

    def _diagnosed(self, case: Case) -> None:
        if case is not self._case or case.report is None:
            return
        tree = self.query_one("#tree", OptionList)
        tree.loading = False
        self._fill_tree()
        self._headline("")
        self._log.say()
        self._say_met()
        self._tried.complain()
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
                self._log.prove(case.proof(report.unknown), {})
        elif report.failed:
            meaning.update("The run failed, and its output does not say why. Look at the program's own log files, or at the kernel's (dmesg).")
        else:
            meaning.update("Nothing failed in this log, as far as aifix can tell.")
        self.query_one("#why-text", Static).update("There is no diagnosis to derive.")
        self._fixes.show(None, None)
        self.query_one(ProbesPane).show(None, None)
        self._arrange()

    # ------------------------------------------------------------ a diagnosis is chosen

    @property
    def _log(self) -> LogPane:
        return self.query_one(LogPane)

    @property
    def _fixes(self) -> FixesPane:
        return self.query_one(FixesPane)

    @property
    def _tried(self) -> TriedBar:
        return self.query_one(TriedBar)

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
        self._log.prove(case.proof(diagnosis), others)
        self.query_one("#meaning-text", Static).update(pages.meaning(diagnosis))
        self.query_one("#why-text", Static).update(pages.why(diagnosis))
        self._fixes.show(case, diagnosis)
        self.query_one(ProbesPane).show(case, diagnosis)
        for name in ("meaning", "why"):
            self.query_one(f"#{name}", VerticalScroll).scroll_home(animate=False)

    @on(OptionList.OptionSelected, "#tree")
    def _entered(self) -> None:
        self.action_tab("fixes")

    # ------------------------------------------------------------ tabs and sizes

    def action_tab(self, name: str) -> None:
        """Show a tab and go into it."""
        self.query_one("#tabs", Tabs).active = name
        self._arrange()
        if self._case is not None:
            self.set_focus({"log": self._log.view, "probes": self.query_one(ProbesPane).list}.get(name, self.query_one(f"#{name}")))

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

    # ------------------------------------------------------------ keys that belong to a part

    def _in_the_log(self) -> None:
        """Show the log, where it is not in sight."""
        if "-both" not in self.classes:
            self.action_tab("log")

    def action_search(self) -> None:
        """Open the search."""
        if self._case is not None:
            self._in_the_log()
            self._log.search()

    def on_key(self, event: events.Key) -> None:
        """Close the search by Escape."""
        if event.key == "escape" and self._log.close_search():
            event.stop()

    def action_again(self, step: int) -> None:
        """Go to the next or previous hit."""
        self._log.find(step)

    def action_proof(self, step: int) -> None:
        """Go to the next line of the proof."""
        if self._case is not None:
            self._in_the_log()
            self._log.view.next_proof(step)

    def action_rank(self) -> None:
        """Show one rank's lines alone, the next rank, then all again."""
        self._log.next_rank()

    def action_copy(self) -> None:
        """Copy the command of the highlighted fix; in the log, the line."""
        view = self._log.view
        if self.focused is view:
            self.app.copy(view.log_file.text(view.number) if view.log_file else "")
        else:
            self._fixes.copy()

    def action_patch(self) -> None:
        """Make a patch of the user's code for the highlighted fix."""
        self._fixes.patch()

    def action_tried(self) -> None:
        """Ask whether the fix that was taken, or the highlighted one, helped."""
        self._tried.ask(self.chosen, self._fixes.chosen)

    @on(FixesPane.Took)
    def _took(self, event: FixesPane.Took) -> None:
        self._tried.take(event.diagnosis, event.fix)

    @on(TriedBar.Learned)
    def _learned(self, event: TriedBar.Learned) -> None:
        if event.case is self._case:
            self._renew(event.case, event.report)

    # ------------------------------------------------------------ rule, probes, another report

    def _say_met(self) -> None:
        met = self._case.met() if self._case is not None else ""
        line = self.query_one("#met", Static)
        line.update(one_line(met))
        line.display = bool(met)

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
