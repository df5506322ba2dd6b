"""Compile the articles, and the index over them and the rules, when the wheel is built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.kb import articles as library
from aifix.kb import index
from aifix.rulebase import base as rulebase

if TYPE_CHECKING:
    from pathlib import Path


def build(folder: Path, out: Path) -> None:
    """Compile a folder of articles beside compiled rules.

    Args:
        folder: The articles.
        out: The folder of the compiled rules; the articles and, where SQLite has FTS5, the index are added.

    Raises:
        ArticleError: an article is broken.
        OSError: a file cannot be read or written.

    """
    found, messages = library.read_folder(str(folder))
    if messages:
        raise library.ArticleError(messages[0])
    (out / library.COMPILED).write_bytes(library.encode(found))
    base = rulebase.read_compiled(str(out))
    if base is None:
        raise FileNotFoundError(f"{out} holds no compiled rules")
    articles = library.Articles(found)
    index.write(index.entries(base, articles), index.mark(base, articles), str(out / index.NAME))
