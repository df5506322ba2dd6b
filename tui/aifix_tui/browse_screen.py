"""The handbook: all rules by family and all articles by topic, searched as one types, each a page with its links."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from aifix.show.layout import counted
from aifix.show.safe import one_line
from aifix_tui import pages
from aifix_tui.handbook import ARTICLE, FAMILIES
from aifix_tui.rule_page import RulePage

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from aifix.kb.search import Found as Hit
    from aifix_tui.app import AifixApp
    from aifix_tui.handbook import Handbook


class BrowseScreen(Screen[None]):
    """Lists rules and articles at the left, the chosen one's page at the right."""

    app: AifixApp
    AUTO_FOCUS = "#rules"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", key_display="/"),
        Binding("a", "kind", "Articles"),
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
        self._kind = ""
        self._trail: list[str] = []

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        with Horizontal():
            with Vertical(id="left"):
                yield Input(placeholder="Search: words, or the message", id="query")
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
        wanted, self._wanted = self._wanted, ""
        self._list(self.query_one("#query", Input).value)
        if wanted:
            self.show(wanted)

    # ------------------------------------------------------------ the list

    def _list(self, query: str) -> None:
        """List what is asked for: everything by family and topic, or what a search finds."""
        if self._book is None:
            return
        if query.strip():
            self._search(self._book, query, self._kind)
        else:
            self.workers.cancel_group(self, "search")
            self._list_all(self._book)

    def _list_all(self, book: Handbook) -> None:
        options: list[Option] = []
        if self._kind != "article":
            for family, ids in book.families().items():
                options.append(Option(pages.text((FAMILIES.get(family, family), "bold $primary")), disabled=True))
                options += [self._option(book, rule_id, full=False) for rule_id in ids]
        if self._kind != "rule":
            for topic, articles in book.topics().items():
                options.append(Option(pages.text((f"articles: {topic}", "bold $primary")), disabled=True))
                options += [self._option(book, ARTICLE + one.name, full=False) for one in articles]
        counts = {"rule": pages.diagnoses(len(book.rules)), "article": counted(len(book.articles), "article")}
        self._show_list(options, counts.get(self._kind) or " and ".join(counts.values()))

    @work(thread=True, exclusive=True, group="search")
    def _search(self, book: Handbook, query: str, kind: str) -> None:
        """Search rules and articles together; in a thread, as the first search may have to make the index."""
        worker = get_current_worker()
        found = book.find(query, kind)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._searched, book, query, found)

    def _searched(self, book: Handbook, query: str, found: list[Hit]) -> None:
        if query != self.query_one("#query", Input).value:  # more was typed meanwhile
            return
        options = [self._option(book, one.name if one.kind == "rule" else ARTICLE + one.name, full=True) for one in found]
        articles = sum(one.kind == "article" for one in found)
        parts = [pages.diagnoses(len(found) - articles)] if len(found) > articles else []
        parts += [counted(articles, "article")] if articles else []
        self._show_list(options, " and ".join(parts) or "nothing like it; fewer words find more")

    def _show_list(self, options: list[Option], count: str) -> None:
        rules = self.query_one("#rules", OptionList)
        rules.clear_options()
        rules.add_options(options)
        self.query_one("#count", Static).update(count)
        wanted, self._wanted = self._wanted, ""
        index = next((index for index, option in enumerate(rules.options) if option.id == wanted), None) if wanted else None
        first = next((index for index, option in enumerate(rules.options) if not option.disabled), None)
        rules.highlighted = index if index is not None else first

    @staticmethod
    def _option(book: Handbook, page: str, *, full: bool) -> Option:
        title = one_line(book.title(page))
        if page.startswith(ARTICLE):
            return Option(pages.text(f" {pages.PAGE} ", title), id=page)
        name = page if full else page.partition(".")[2]
        return Option(pages.text(" ", (name, "bold"), f"\n   {title}"), id=page)

    @on(Input.Changed, "#query")
    def _typed(self, event: Input.Changed) -> None:
        self._list(event.value)

    @on(Input.Submitted, "#query")
    def _submitted(self) -> None:
        self.set_focus(self.query_one("#rules"))

    def on_key(self, event: events.Key) -> None:
        """Go from the search to the list and back."""
        if self.query_one("#query").has_focus and event.key in {"down", "escape"}:
            event.stop()
            event.prevent_default()
            if event.key == "escape":
                self.query_one("#query", Input).value = ""
            self.set_focus(self.query_one("#rules"))

    @on(OptionList.OptionHighlighted, "#rules")
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if self._book is not None and event.option_id:
            self.query_one(RulePage).show(self._book, event.option_id)

    @on(OptionList.OptionSelected, "#rules")
    def _selected(self) -> None:
        self._trail.clear()
        self.set_focus(self.query_one(RulePage))

    # ------------------------------------------------------------ pages

    def show(self, page: str) -> None:
        """Show a page; the list goes along where it holds it."""
        book = self._book
        if book is None:
            self._wanted = page
            return
        if not book.holds(page):
            self.notify(f"{page.removeprefix(ARTICLE)} is not in the handbook", severity="warning", markup=False)
            return
        rules = self.query_one("#rules", OptionList)
        index = next((index for index, option in enumerate(rules.options) if option.id == page), None)
        if index is None:  # filtered out
            with self.prevent(Input.Changed):
                self.query_one("#query", Input).value = ""
            self._kind = ""
            self._wanted = page
            self._list("")
        else:
            rules.highlighted = index
        self.query_one(RulePage).show(book, page)
        self.set_focus(self.query_one(RulePage))

    @on(RulePage.Follow)
    def _follow(self, event: RulePage.Follow) -> None:
        self._trail.append(self.query_one(RulePage).page_name)
        self.show(event.page)

    def action_back(self) -> None:
        """Go back along the links."""
        if self._trail:
            self.show(self._trail.pop())
        else:
            self.set_focus(self.query_one("#rules"))

    def action_search(self) -> None:
        """Go to the search."""
        self.set_focus(self.query_one("#query"))

    def action_kind(self) -> None:
        """List everything, diagnoses alone, or articles alone."""
        self._kind = {"": "rule", "rule": "article"}.get(self._kind, "")
        self._list(self.query_one("#query", Input).value)

    def action_copy(self) -> None:
        """Choose what to copy of the page."""
        from aifix_tui.dialogs import CopyDialog

        page = self.query_one(RulePage)
        if self._book is None or not page.page_name:
            return
        actions = page.copyable(self._book)
        if actions:
            self.app.push_screen(CopyDialog(self._book.title(page.page_name), actions), self.app.chosen)
        else:
            self.app.copy("")
