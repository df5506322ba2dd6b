"""The navigation: every page has its place, and a page that nobody placed stands under "More"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from site_pages import articles, commands, diagnoses, schemas
from site_pages.page import article_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aifix.kb.articles import Articles
    from site_pages.page import Page

HOME = "index.md"
GUIDES = ("from-log-to-rule.md", "reference/rule-format.md", schemas.RULE, "reference/article-format.md")
REFERENCE = (schemas.REPORT, schemas.PROBES)
LAST = ("speed.md", "trust.md", "figures.md", "torch-versions.md")
"""Pages that stand first under "More", in this order, once somebody has written them."""


def of(pages: Iterable[Page], library: Articles | None = None) -> list[dict[str, Any]]:
    """Lay out the navigation of some pages; each stands in it once.

    Args:
        pages: the pages.
        library: the articles, to sort theirs by topic.

    """
    left = {page.path: page for page in pages}

    def take(path: str) -> list[dict[str, str]]:
        page = left.pop(path, None)
        return [{page.title: page.path}] if page else []

    def folder(name: str) -> list[dict[str, str]]:
        return [entry for path in [path for path in left if path.startswith(f"{name}/")] for entry in take(path)]

    found: list[dict[str, Any]] = []
    if HOME in left:
        left.pop(HOME)
        found.append({"Home": HOME})
    sections: list[dict[str, Any]] = [*_bare(take(diagnoses.INDEX)), *take(diagnoses.TAGS)]
    for family in sorted({path.split("/")[1] for path in left if path.startswith("diagnoses/")}):
        index = _bare(take(f"diagnoses/{family}/index.md"))
        sections.append({diagnoses.name_of(family): [*index, *folder(f"diagnoses/{family}")]})
    found.append({"Diagnoses": sections})
    topics: list[Any] = _bare(take(articles.INDEX))
    for topic, listed in articles.by_topic((library or {}).values()).items():
        topics.append({articles.topic_name(topic): [entry for one in listed for entry in take(article_path(one.name))]})
    found.append({"Articles": [*topics, *folder("articles")]})
    found.append({"Commands": [*_bare(take(commands.INDEX)), *folder("commands")]})
    found.append({"Contributing": [entry for path in GUIDES for entry in take(path)]})
    found.append({"Reference": [*(entry for path in REFERENCE for entry in take(path)), *folder("reference")]})
    found.append({"More": [*(entry for path in LAST for entry in take(path)), *(entry for path in list(left) for entry in take(path))]})
    return [section for section in found if all(section.values())]


def _bare(entries: list[dict[str, str]]) -> list[Any]:
    """Give the paths alone: the page becomes its section's own (navigation.indexes)."""
    return [path for entry in entries for path in entry.values()]
