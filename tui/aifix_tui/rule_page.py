"""A page of the handbook, a rule or an article, with links to the pages that it hangs with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from aifix.show.safe import one_line, sanitise
from aifix_tui import pages
from aifix_tui.handbook import ARTICLE

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.widgets import Markdown

    from aifix.kb.articles import Article
    from aifix.model import Action
    from aifix_tui.handbook import Handbook


class RulePage(VerticalScroll, can_focus=True):
    """One rule with its fixes, or one article, and its links."""

    DEFAULT_CSS = """
    RulePage { padding: 0 1; }
    RulePage:focus { background: $surface; }
    RulePage Markdown { padding: 0; margin: 1 0 0 0; background: transparent; }
    RulePage MarkdownH2 { margin: 1 0; padding: 0; content-align: left middle; color: $text-primary; text-style: bold; }
    RulePage MarkdownH3 { margin: 1 0 0 0; padding: 0; }
    RulePage MarkdownFence { margin: 1 0; max-height: 1000; }
    RulePage #links {
        height: auto; max-height: 1000; border: none; border-top: hkey $primary 50%; border-title-color: $text-muted;
        background: $background; margin: 1 0;
    }
    """

    class Follow(Message):
        """A link is to be followed."""

        def __init__(self, page: str) -> None:
            self.page = page
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.page_name = ""
        """The rule's id, or `article:` and the article's name."""
        self._linked: list[str] = []
        self._markdown: Markdown | None = None

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        yield Static("", id="page-text", markup=False)
        yield OptionList(id="links", markup=False)

    def show(self, book: Handbook, page: str) -> None:
        """Show a page."""
        if page == self.page_name:
            return
        self.page_name = page
        article = book.article(page)
        text = self.query_one("#page-text", Static)
        text.update(pages.article_head(article) if article is not None else pages.rule_page(book.page(page), book.printed(page)))
        self._show_body(article)
        links = book.links_of(page)
        self._linked = [link.page for link in links]
        listed = self.query_one("#links", OptionList)
        listed.border_title = "leads to (Tab, then Enter)"
        listed.clear_options()
        listed.add_options([self._option(link.words, link.page, link.title) for link in links])
        listed.display = bool(links)
        listed.highlighted = 0 if links else None
        self.scroll_home(animate=False)

    @staticmethod
    def _option(words: str, page: str, title: str) -> Option:
        name = f"{pages.PAGE} {one_line(title)}" if page.startswith(ARTICLE) else page
        return Option(pages.text((f"{words}: ", pages.MUTED), (name, "bold"), "" if page.startswith(ARTICLE) else f"  {one_line(title)}"))

    def _show_body(self, article: Article | None) -> None:
        """Show an article's text; the widget is made with the first one."""
        if article is None:
            if self._markdown is not None:
                self._markdown.display = False
            return
        from textual.widgets import Markdown

        read_on = "".join(f"- [{one.title}]({one.url})\n" for one in article.references)
        body = article.body + (f"\n## Read more\n\n{read_on}" if read_on else "")
        if self._markdown is None:
            self._markdown = Markdown(body, id="article-text", open_links=False)
            self.mount(self._markdown, after="#page-text")
        else:
            self._markdown.update(body)
        self._markdown.display = True

    def copyable(self, book: Handbook) -> list[Action]:
        """Give what can be copied of the page: the actions of a rule's fixes, an article's blocks of code."""
        from aifix.model import Action

        article = book.article(self.page_name)
        if article is not None:
            from aifix.kb.articles import fences

            return [Action("command" if language in {"bash", "sh"} else "code", code) for language, code in fences(article.body)]
        if self.page_name not in book.rules:
            return []
        return [action for fix in book.page(self.page_name).fixes for action in pages.copied(fix.do)]

    @on(OptionList.OptionSelected, "#links")
    def _followed(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Follow(self._linked[event.option_index]))

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """Follow a link within an article; an address elsewhere is copied, as nothing is fetched from here."""
        from aifix.kb.articles import link

        event.stop()
        clicked = link("", event.href)
        if clicked.kind in {"rule", "article"}:
            self.post_message(self.Follow(clicked.target if clicked.kind == "rule" else ARTICLE + clicked.target))
        else:
            self.app.copy_to_clipboard(event.href)
            self.notify(sanitise(event.href), title="Address copied", markup=False)
