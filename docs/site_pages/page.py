"""A page, and how pages link to each other."""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from aifix.show.markdown import Linked


class UndocumentedError(ValueError):
    """Something that people can use has no documentation; the message says what, and where to write it."""


class Page(NamedTuple):
    """A page of the site: where it stands, what the navigation calls it, and its Markdown."""

    path: str
    title: str
    text: str
    description: str = ""
    searched: bool = True
    """Whether the site's search looks into it; lists of what stands elsewhere would only repeat it."""

    def source(self) -> str:
        """Give the file's text: the front matter, whose JSON strings are YAML too, and the body."""
        head = [f"title: {json.dumps(self.title, ensure_ascii=False)}"]
        if self.description:
            head.append(f"description: {json.dumps(' '.join(self.description.split()), ensure_ascii=False)}")
        if not self.searched:
            head.append("search: {exclude: true}")
        return "\n".join(["---", *head, "---", "", self.text.strip("\n"), ""])


def rule_path(rule_id: str) -> str:
    """Say where a rule's page stands."""
    family, _, name = rule_id.partition(".")
    return f"diagnoses/{family}/{name}.md"


def article_path(name: str) -> str:
    """Say where an article stands."""
    return f"articles/{name}.md"


def relative(target: str, start: str) -> str:
    """Write a page's path as a page at `start` has to."""
    return posixpath.relpath(target, posixpath.dirname(start))


def linked_from(start: str) -> Linked:
    """Give how the page at `start` writes links. A target that is not there stays a link, so that the strict build finds it."""

    def linked(kind: str, target: str, text: str) -> str:
        name, mark, anchor = target.partition("#")
        path = rule_path(name) if kind == "rule" else article_path(name)
        return f"[{text}]({relative(path, start)}{mark}{anchor})"

    return linked
