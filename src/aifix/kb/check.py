"""What an article may not be: tied to a rule or to another article that does not exist, or without what a reader needs to find it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aifix.kb import articles as library

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from aifix.kb.articles import Article

TITLE = 70
"""Characters of a title."""
SUMMARY = 240
"""Characters of a summary."""


def lint(where: str, rules: Collection[str]) -> list[str]:
    """Check the articles of a folder.

    Args:
        where: the folder.
        rules: the ids of all rules.

    Returns:
        A line for each problem: file, line and what is wrong.

    """
    found, messages = library.read_folder(where)
    names = {article.name for article in found}
    for article in found:
        path = os.path.join(where, f"{article.name}.md")  # noqa: PTH118 - as articles.py
        with open(path, encoding="utf-8") as stream:  # noqa: PTH123
            text = stream.read()
        messages += [f"{path}:{_line(text, spot)}:1: {message}" for spot, message in _problems(article, names, rules)]
    return messages


def _problems(article: Article, names: Collection[str], rules: Collection[str]) -> Iterator[tuple[str, str]]:
    """Give a text near which each problem stands, and the problem."""
    if not 0 < len(article.title) < TITLE:
        yield "title:", f"the title has {len(article.title)} characters; it needs one, under {TITLE}"
    if not 0 < len(article.summary) <= SUMMARY:
        yield "summary:", f"the summary has {len(article.summary)} characters; it needs one, at most {SUMMARY}"
    if not article.rules:
        yield "title:", "it names no rule, so nobody is led to it"
    for rule in article.rules:
        if rule not in rules:
            yield rule, f"it names {rule}, which is no rule"
    for reference in article.references:
        if not reference.url.startswith("https://"):
            yield reference.url, f"the reference {reference.url} is no https:// address"
    for link in library.links(article.body):
        if link.kind == "rule" and link.target not in rules:
            yield f"rule:{link.target}", f"it links to {link.target}, which is no rule"
        elif link.kind == "article" and link.target not in names:
            yield f"({link.target}", f"it links to {link.target}.md, which is no article"
        elif link.kind == "file":
            yield f"({link.target}", f"it links to {link.target}; an article links to articles, rules and https:// addresses"
        elif link.kind == "web" and not link.target.startswith(("https://", "#")):
            yield link.target, f"the link {link.target} is no https:// address"


def _line(text: str, spot: str) -> int:
    at = text.find(spot)
    return text.count("\n", 0, at) + 1 if at >= 0 else 1
