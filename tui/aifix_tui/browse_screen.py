"""The handbook: all rules by family, searched as one types, each a page with links between cause and symptom."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from aifix_tui import pages
from aifix_tui.handbook import FAMILIES
from aifix_tui.rule_page import RulePage

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from aifix_tui.app import AifixApp
    from aifix_tui.handbook import Handbook


class BrowseScreen(Screen[None]):
    """Lists the rules at the left, the chosen one's page at the right."""

    app: AifixApp
    AUTO_FOCUS = "#rules"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", key_display="/"),
        Binding("backspace", "back", "Back"),
        Binding("c", "copy", "Copy"),
    ]
    DEFAULT_CSS = """
    BrowseScreen #left { width: 38%; min-width: 30; max-width: 56; border-right: vkey $primary 50%; }
    BrowseScreen #query { height: 3; }
    BrowseScreen #count { height: 1; padding: 0 1; color: $text-muted; }
    BrowseScreen #rules { height: 1fr; border: none; background: $background; }
    """

    def __init__(self) -> None:
        """Make the screen; the handbook is loaded when it is shown."""
        super().__init__()
        self._book: Handbook | None = None
        self._wanted = ""
        self._trail: list[str] = []

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        with Horizontal():
            with Vertical(id="left"):
                yield Input(placeholder="Search: words of the message", id="query")
                yield Static("", id="count", markup=False)
                yield OptionList(id="rules", markup=False)
            yield RulePage(id="page")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Load the handbook in a thread."""
        self.query_one("#rules", OptionList).loading = True
        self._load()

    @work(thread=True)
    def _load(self) -> None:
        self.app.call_from_thread(self._loaded, self.app.handbook())

    def _loaded(self, book: Handbook) -> None:
        self._book = book
        self.query_one("#rules", OptionList).loading = False
        self._list(self.query_one("#query", Input).value)
        if self._wanted:
            self.show(self._wanted)

    # ------------------------------------------------------------ the list

    def _list(self, query: str) -> None:
        book = self._book
        if book is None:
            return
        rules = self.query_one("#rules", OptionList)
        rules.clear_options()
        count = self.query_one("#count", Static)
        if query.strip():
            found = book.search(query)
            rules.add_options([self._option(one.id, full=True) for one in found])
            count.update(f"{len(found)} of {len(book.rules)}" if found else "nothing like it; fewer words find more")
        else:
            count.update(f"{len(book.rules)} diagnoses by family")
            for family, ids in book.families().items():
                rules.add_option(Option(pages.text((FAMILIES.get(family, family), "bold $primary")), disabled=True))
                rules.add_options([self._option(rule_id, full=False) for rule_id in ids])
        first = next((index for index, option in enumerate(rules.options) if not option.disabled), None)
        rules.highlighted = first

    def _option(self, rule_id: str, *, full: bool) -> Option:
        title = pages.one_line(self._book.titles[rule_id]) if self._book else ""
        name = rule_id if full else rule_id.partition(".")[2]
        return Option(pages.text(" ", (f"{name}", "bold"), f"\n   {title}"), id=rule_id)

    @on(Input.Changed, "#query")
    def _typed(self, event: Input.Changed) -> None:
        self._list(event.value)

    @on(Input.Submitted, "#query")
    def _submitted(self) -> None:
        self.query_one("#rules").focus()

    def on_key(self, event: events.Key) -> None:
        """Go from the search to the list and back."""
        if self.query_one("#query").has_focus and event.key in {"down", "escape"}:
            event.stop()
            event.prevent_default()
            if event.key == "escape":
                self.query_one("#query", Input).value = ""
            self.query_one("#rules").focus()

    @on(OptionList.OptionHighlighted, "#rules")
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if self._book is not None and event.option_id:
            self.query_one(RulePage).show(self._book, event.option_id)

    @on(OptionList.OptionSelected, "#rules")
    def _selected(self) -> None:
        self._trail.clear()
        self.query_one(RulePage).focus()

    # ------------------------------------------------------------ pages

    def show(self, rule_id: str) -> None:
        """Show a rule's page; the list goes along where it holds it."""
        book = self._book
        if book is None:
            self._wanted = rule_id
            return
        self._wanted = ""
        if rule_id not in book.rules:
            self.notify(f"{rule_id} is not in the handbook", severity="warning", markup=False)
            return
        rules = self.query_one("#rules", OptionList)
        index = next((index for index, option in enumerate(rules.options) if option.id == rule_id), None)
        if index is None:  # filtered out
            with self.prevent(Input.Changed):
                self.query_one("#query", Input).value = ""
            self._list("")
            index = next((index for index, option in enumerate(rules.options) if option.id == rule_id), None)
        rules.highlighted = index
        self.query_one(RulePage).show(book, rule_id)
        self.query_one(RulePage).focus()

    @on(RulePage.Follow)
    def _follow(self, event: RulePage.Follow) -> None:
        self._trail.append(self.query_one(RulePage).rule_id)
        self.show(event.rule_id)

    def action_back(self) -> None:
        """Go back along the links."""
        if self._trail:
            self.show(self._trail.pop())
        else:
            self.query_one("#rules").focus()

    def action_search(self) -> None:
        """Go to the search."""
        self.query_one("#query").focus()

    def action_copy(self) -> None:
        """Choose what to copy of the page's fixes."""
        from aifix_tui.dialogs import CopyDialog

        page = self.query_one(RulePage)
        if self._book is None or not page.rule_id:
            return
        actions = [action for fix in self._book.page(page.rule_id).fixes for action in pages.copied(fix.do)]
        if actions:
            self.app.push_screen(CopyDialog(self._book.titles[page.rule_id], actions), lambda text: self.app.copy(text) if text else None)
        else:
            self.app.copy("")
