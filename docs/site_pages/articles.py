"""The articles, and their list by topic."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aifix.show import markdown
from site_pages.page import Page, article_path, linked_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from aifix.kb.articles import Article, Articles

INDEX = "articles/index.md"
NAMES = {"cuda": "CUDA", "node": "Node", "host": "The host", "hub": "Hugging Face", "method": "How to find a fault", "python": "Python packages"}
"""Topics whose heading is more than their name."""
_ITEM = re.compile(r"^(\s*)(?:[-*+]|\d+[.)])\s+")
_NUMBER = re.compile(r"^(\d+)\)")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")


def pages(articles: Articles, titles: Mapping[str, str]) -> Iterator[Page]:
    """Give a page for each article, and their list.

    Args:
        articles: the articles.
        titles: the titles of all rules, by id.

    """
    for article in articles.values():
        path = article_path(article.name)
        yield Page(path, article.title, from_commonmark(markdown.article_page(article, titles=titles, linked=linked_from(path))), article.summary)
    parts = ["# Articles", "Background and how-to behind the diagnoses. In the terminal: `aifix kb search TEXT`, `aifix kb show NAME`."]
    for topic, listed in by_topic(articles.values()).items():
        lines = [f"- [{markdown.inline(one.title)}]({one.name}.md). {markdown.inline(one.summary)}" for one in listed]
        parts += [f"## {markdown.inline(topic_name(topic))}", "\n".join(lines)]
    yield Page(INDEX, "All articles", "\n\n".join(parts))


def by_topic(articles: Iterable[Article]) -> dict[str, list[Article]]:
    """Sort articles under their first topics."""
    found: dict[str, list[Article]] = {}
    for article in articles:
        found.setdefault(next(iter(article.topics), "other"), []).append(article)
    return dict(sorted(found.items()))


def topic_name(topic: str) -> str:
    """Say what a topic is called in a heading."""
    return NAMES.get(topic, topic.capitalize())


def from_commonmark(text: str) -> str:
    """Write CommonMark so that Python-Markdown reads it alike: a list has a blank line before it, and four blanks a level inside."""
    out: list[str] = []
    columns: list[int] = []  # where the content of each open list item begins
    fence, shift = "", 0
    for line in text.split("\n"):
        if fence:
            out.append(" " * shift * bool(line.strip()) + line)
            closing = line.strip()
            if closing.startswith(fence) and not closing.strip(fence[0]):
                fence = ""
            continue
        at = len(line) - len(line.lstrip())
        item, opening = _ITEM.match(line), _FENCE.match(line)
        before = out[-1].strip() if out else ""
        inside = bool(columns)
        if line.strip() and (item or opening or not before):  # any other line goes on with its paragraph, however it is indented
            while columns and at < columns[-1]:
                columns.pop()
        shift = max(0, 4 * len(columns) - columns[-1]) if columns and at >= columns[-1] else 0
        if item:
            if not inside and before:
                out.append("")
            out.append(" " * (4 * len(columns)) + _NUMBER.sub(r"\1.", line.lstrip()))
            columns.append(item.end())
            continue
        fence = opening[1] if opening else ""
        out.append(" " * shift * bool(line.strip()) + line)
    return "\n".join(out)
