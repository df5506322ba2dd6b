"""A page of the handbook, with links to the rules that it hangs with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from aifix_tui import pages

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from aifix_tui.handbook import Handbook

LINKS = (("causes", "may be caused by"), ("symptoms", "may cause"), ("refines", "a case of"), ("refined", "special case"))


class RulePage(VerticalScroll, can_focus=True):
    """One rule, its fixes, and its links."""

    DEFAULT_CSS = """
    RulePage { padding: 0 1; }
    RulePage:focus { background: $surface; }
    RulePage #links { height: auto; border: none; background: $background; margin-bottom: 1; }
    """

    class Follow(Message):
        """A link is to be followed."""

        def __init__(self, rule_id: str) -> None:
            self.rule_id = rule_id
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.rule_id = ""
        self._linked: list[str] = []

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        yield Static("", id="page-text", markup=False)
        yield OptionList(id="links", markup=False)

    def show(self, book: Handbook, rule_id: str) -> None:
        """Show a rule."""
        self.rule_id = rule_id
        self.query_one("#page-text", Static).update(pages.rule_page(book.page(rule_id), book.printed(rule_id)))
        links = book.links[rule_id]
        options: list[Option] = []
        self._linked = []
        for name, words in LINKS:
            for other in getattr(links, name):
                options.append(Option(pages.text((f"{words}: ", pages.MUTED), (other, "bold"), f"  {pages.one_line(book.titles[other])}")))
                self._linked.append(other)
        listed = self.query_one("#links", OptionList)
        listed.clear_options()
        listed.add_options(options)
        listed.display = bool(options)
        listed.highlighted = 0 if options else None
        self.scroll_home(animate=False)

    def command(self, book: Handbook) -> str:
        """Give the first command of the page's fixes."""
        return next((text for fix in book.page(self.rule_id).fixes if (text := pages.command_of(fix))), "") if self.rule_id else ""

    @on(OptionList.OptionSelected, "#links")
    def _followed(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Follow(self._linked[event.option_index]))
