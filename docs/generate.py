"""Write the sources of the handbook site: `python docs/generate.py OUT`, then `mkdocs build --strict -f OUT/mkdocs.yml`.

Hand-written pages are the Markdown files of this folder; any that is added is found. Everything else comes from the rules (rules/), the
articles (kb/), the commands and the schemas, so nothing of it can be forgotten: what has no documentation ends this program with 1 and one
line that says what.
"""

from __future__ import annotations

import json
import posixpath
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aifix.kb import articles as library
from aifix.kb.check import lint
from aifix.show import handbook
from site_pages import articles as article_pages
from site_pages import commands, diagnoses, navigation, schemas
from site_pages.page import Page, UndocumentedError, linked_from, relative

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aifix.kb.articles import Articles, Link
    from aifix.rulebase.source import Loaded

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
INCLUDED = {
    "CONTRIBUTING.md": ("reference/rule-format.md", "The rule format"),
    "CHANGELOG.md": ("changelog.md", "Changelog"),
    "kb/README.md": ("reference/article-format.md", "The article format"),
}
"""Pages that the repository has for its readers already."""
ASSETS = ("assets", "screens")


def main(arguments: list[str]) -> int:
    """Write the sources into a folder, which is emptied first."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python docs/generate.py OUT\n")
        return 2
    out = Path(arguments[0]).resolve()
    try:
        pages = collect()
    except UndocumentedError as error:
        sys.stderr.write(f"docs: {error}\n")
        return 1
    write(pages, out, library.load())
    sys.stdout.write(f"{len(pages)} pages in {out / 'pages'}\n")
    return 0


def collect() -> list[Page]:
    """Make every page.

    Raises:
        UndocumentedError: a command, an option, a rule or an article lacks what a reader needs.

    """
    loaded = diagnoses.load()
    problems = lint(library.folder(), {item.rule.id for item in loaded})
    if problems:
        raise UndocumentedError(problems[0])
    articles = library.load()
    check_addresses(loaded, articles)
    return [
        *written(HERE),
        *(included(ROOT / source, *target) for source, target in INCLUDED.items() if (ROOT / source).is_file()),
        *diagnoses.pages(loaded, articles),
        *article_pages.pages(articles, {item.rule.id: handbook.title(item.rule) for item in loaded}),
        *commands.pages(commands.root()),
        *schemas.pages(),
    ]


def written(folder: Path) -> list[Page]:
    """Read the hand-written pages; a page's first heading is its title."""
    return [included(path, path.name) for path in sorted(folder.glob("*.md"))]


def included(path: Path, target: str, title: str = "") -> Page:
    """Read one Markdown file as a page; its links to other files of the repository lead to their pages."""
    text = path.read_text("utf-8")
    heading = next((line.lstrip("# ").strip() for line in text.splitlines() if line.startswith("# ")), path.stem)
    folder = path.parent.relative_to(ROOT) if path.is_relative_to(ROOT) else Path()
    return Page(target, title or heading, article_pages.from_commonmark(library.relink(text, lambda link: _link(link, folder, target))))


def _link(link: Link, folder: Path, start: str) -> str:
    """Write a link of an included page; one to a file that is no page stays as it is, and ends the strict build."""
    if link.kind == "rule":
        return linked_from(start)(link.kind, link.target, link.text)
    if link.kind in {"web", "file"}:
        return f"[{link.text}]({link.target})"
    file = posixpath.normpath((folder / f"{link.target}.md").as_posix())
    page = INCLUDED[file][0] if file in INCLUDED else file.removeprefix("docs/")
    return f"[{link.text}]({relative(page, start)}{f'#{link.anchor}' if link.anchor else ''})"


def check_addresses(loaded: Iterable[Loaded], articles: Articles) -> None:
    """Check the form of every address to the outside; none is asked.

    Raises:
        UndocumentedError: one is no address.

    """
    named = [(item.file, address) for item in loaded for address in item.rule.references]
    named += [(f"kb/{article.name}.md", one.url) for article in articles.values() for one in article.references]
    named += [(f"kb/{article.name}.md", link.target) for article in articles.values() for link in library.links(article.body) if link.kind == "web"]
    for where, address in named:
        parts = urlsplit(address)
        sound = parts.scheme in {"http", "https"} and "." in (parts.hostname or "") and not any(character in address for character in " <>\"'`{}|\\^")
        if not sound and not address.startswith("#"):
            raise UndocumentedError(f"{where}: {address!r} is no address of the web")


def write(pages: list[Page], out: Path, articles: Articles | None = None) -> None:
    """Write pages, assets and the configuration with its navigation."""
    shutil.rmtree(out / "pages", ignore_errors=True)
    for page in pages:
        path = out / "pages" / page.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page.source(), encoding="utf-8", newline="\n")
    for name, text in schemas.files().items():
        path = out / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    for name in ASSETS:
        shutil.copytree(HERE / name, out / "pages" / name)
    configuration = {
        "INHERIT": str(HERE / "mkdocs.yml"),
        "docs_dir": str(out / "pages"),
        "site_dir": str(out / "site"),
        "nav": navigation.of(pages, articles),
    }
    # JSON is YAML, and needs no writer of our own
    (out / "mkdocs.yml").write_text(json.dumps(configuration, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
