"""The handbook site: nothing that people can use is missing, and a dead link ends the strict build."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import typing
from typing import TYPE_CHECKING

import click
import pytest

import generate
from aifix.commands.main import cli
from aifix.kb import articles as library
from aifix.rulebase import base as rulebase
from aifix.rulebase.source import Phase
from site_pages import articles as article_pages
from site_pages import commands, diagnoses, navigation
from site_pages.page import Page, UndocumentedError, linked_from

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    return {page.path: page for page in generate.collect()}


# ---------------------------------------------------------------- nothing is missing


def test_every_rule_has_a_page_with_all_its_parts(pages: dict[str, Page]) -> None:
    base = rulebase.load()
    built_in = [rule_id for rule_id in base if base[rule_id].origin == "built-in"]
    missing = [rule_id for rule_id in built_in if f"diagnoses/{rule_id.replace('.', '/', 1)}.md" not in pages]
    assert missing == []
    for rule_id in built_in:
        text = pages[f"diagnoses/{rule_id.replace('.', '/', 1)}.md"].text
        for part in (f"`{rule_id}`", "## The message", "## What it means", "## Fixes, in the order in which to try them"):
            assert part in text, rule_id
        assert ("## References" in text) == bool(base[rule_id].references), rule_id
        assert all(f"aifix probe {use.id}" in text for use in base[rule_id].probes), rule_id


def test_every_article_has_a_page_and_rules_link_back(pages: dict[str, Page]) -> None:
    for article in library.load().values():
        assert f"articles/{article.name}.md" in pages
        for rule_id in article.rules:
            family, _, name = rule_id.partition(".")
            assert f"(../../articles/{article.name}.md)" in pages[f"diagnoses/{family}/{name}.md"].text


def every_command(command: click.Command, context: click.Context) -> list[tuple[str, click.Command, click.Context]]:
    found = [(context.command_path, command, context)]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            found += every_command(child, click.Context(child, parent=context, info_name=name))
    return found


def test_every_command_and_option_stands_in_the_reference(pages: dict[str, Page]) -> None:
    text = "\n".join(page.text for path, page in pages.items() if path.startswith("commands/"))
    for path, command, _context in every_command(cli, click.Context(cli, info_name="aifix")):
        (section,) = re.findall(rf"```text\n{re.escape(path)} \[OPTIONS\][^\n]*\n```\n(.*?)(?=\n#|\Z)", text, re.DOTALL)
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert all(f"`{name}`" in section for name in option.opts), (path, option.opts)


def undocumented() -> click.Group:
    group = click.Group("tool", help="A tool.")
    group.add_command(click.Command("fine", help="Fine.", params=[click.Option(["--known"], help="Known.")]))
    return group


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (click.Command("bare"), "the command 'tool bare' has no help"),
        (click.Command("half", help="Half.", params=[click.Option(["--dark"])]), "the option --dark of 'tool half' has no help"),
        (click.Group("inner", help="In.", commands=[click.Command("deep")]), "the command 'tool inner deep' has no help"),
    ],
)
def test_what_has_no_help_is_refused(command: click.Command, reason: str) -> None:
    group = undocumented()
    commands.Command(group, click.Context(group, info_name="tool"))
    group.add_command(command)
    with pytest.raises(UndocumentedError, match=re.escape(reason)):
        commands.Command(group, click.Context(group, info_name="tool"))


def test_every_page_stands_in_the_navigation_once(pages: dict[str, Page]) -> None:
    def paths(entry: object) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        if isinstance(entry, dict):
            return [path for value in entry.values() for path in paths(value)]
        assert isinstance(entry, list)
        return [path for one in entry for path in paths(one)]

    assert sorted(paths(navigation.of(pages.values()))) == sorted(pages)


def test_every_phase_of_rules_and_topic_of_articles_has_its_heading(pages: dict[str, Page]) -> None:
    assert set(diagnoses.PHASES) == set(typing.get_args(Phase))
    for topic in library.load().topics():
        if any(next(iter(article.topics)) == topic for article in library.load().values()):
            assert f"\n## {article_pages.topic_name(topic)}\n" in pages["articles/index.md"].text


def test_a_page_that_is_written_later_is_found(tmp_path: Path) -> None:
    (tmp_path / "figures.md").write_text("# Figures\n\nText.\n", encoding="utf-8")
    found = generate.written(tmp_path)
    assert [(page.path, page.title) for page in found] == [("figures.md", "Figures")]
    assert navigation.of(found)[-1] == {"More": [{"Figures": "figures.md"}]}


# ---------------------------------------------------------------- it is built strictly


RULE = "go.deadlock"
"""A rule whose page links to no other, so that a site of one rule is whole."""
DEAD = {
    "[x](missing.md)": "missing.md",
    "[x](index.md#no-such-part)": "no-such-part",
    "[x](#nowhere)": "nowhere",
    "[x](/absolute.md)": "/absolute.md",
    linked_from("late.md")("rule", "cuda.no-such-rule", "x"): "diagnoses/cuda/no-such-rule.md",
    linked_from("late.md")("article", "no-such-article", "x"): "articles/no-such-article.md",
}


def site(folder: Path, *more: Page) -> tuple[int, str]:
    """Build a site of a few pages as `make docs` builds the whole."""
    loaded = [item for item in diagnoses.load() if item.rule.id == RULE]
    generate.write([Page("index.md", "Home", "# Home\n\nText.\n"), *diagnoses.pages(loaded, library.Articles()), *more], folder)
    (line,) = [line for line in (generate.ROOT / "Makefile").read_text("utf-8").splitlines() if "mkdocs build" in line]
    options = line.partition("mkdocs build ")[2].partition(" -f ")[0].split()
    command = [sys.executable, "-m", "mkdocs", "build", *options, "-f", str(folder / "mkdocs.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_every_kind_of_dead_link_ends_the_build(tmp_path: Path) -> None:
    status, said = site(tmp_path, Page("late.md", "Late", "# Late\n\n" + "\n\n".join(DEAD)))
    assert status != 0
    assert f"Aborted with {len(DEAD)} warnings" in said
    assert [target for target in DEAD.values() if target not in said] == []


@pytest.mark.slow
def test_a_sound_site_is_built_and_fetches_nothing(tmp_path: Path) -> None:
    status, said = site(tmp_path, Page("late.md", "Late", f"# Late\n\n{linked_from('late.md')('rule', RULE, 'x')}\n"))
    assert status == 0, said
    built = tmp_path / "site"
    assert (built / "diagnoses" / "go" / "deadlock.html").is_file()
    away = re.compile(
        r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?(?:https?:)?//"""
        r"""|<link[^>]*rel=["']?(?:stylesheet|preconnect|icon|preload)[^>]*href=["']?(?:https?:)?//"""
    )
    for page in built.rglob("*.html"):
        assert not away.search(page.read_text("utf-8")), page
    for style in built.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//|@import", style.read_text("utf-8")), style
    assert (built / "search" / "search_index.js").is_file()  # the search needs no server


@pytest.mark.parametrize("address", ["http//broken", "https://", "https://a b.org", "ftp://example.org/x", "example.org"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    article = library.Article("a", "A", "S.", (), (), (library.Reference("T", address),), "")
    with pytest.raises(UndocumentedError, match="is no address of the web"):
        generate.check_addresses([], library.Articles([article]))


# ---------------------------------------------------------------- Markdown of two kinds


@pytest.mark.parametrize(
    ("common", "written"),
    [
        ("Text:\n- one\n- two", "Text:\n\n- one\n- two"),
        ("- one\n  - inner\n    more\n- two", "- one\n    - inner\n        more\n- two"),
        ("1) one\n2) two", "1. one\n2. two"),
        ("- one\n\n  ```python\n  x = 1\n\n  - y\n  ```\n\n- two", "- one\n\n    ```python\n    x = 1\n\n    - y\n    ```\n\n- two"),
        ("1. one\n   goes on\n2. two", "1. one\n    goes on\n2. two"),
        ("```text\na\n- b\n1) c\n```", "```text\na\n- b\n1) c\n```"),
        ("Plain\ntext - no list", "Plain\ntext - no list"),
        ("- one\n\nafter\n- two", "- one\n\nafter\n\n- two"),
    ],
)
def test_lists_are_written_as_python_markdown_reads_them(common: str, written: str) -> None:
    assert article_pages.from_commonmark(common) == written
