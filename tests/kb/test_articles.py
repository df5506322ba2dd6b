"""The articles of kb/ keep to the format that kb/README.md describes, and everything that they point at exists."""

from __future__ import annotations

import ast
import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
KB = ROOT / "kb"
NAMES = sorted(path.stem for path in KB.glob("*.md") if path.name != "README.md")
RULES = {".".join(path.with_suffix("").parts[-2:]) for path in (ROOT / "rules").glob("*/*.yaml") if path.parent.name != "catalogues"}
TOPICS = set(re.findall(r"^- `([a-z]+)`:", (KB / "README.md").read_text("utf-8"), re.MULTILINE))
LANGUAGES = {"python", "bash", "text", "yaml", "json", "go", "ini", "toml", "dockerfile", "javascript", "c", "diff"}


@dataclass(frozen=True)
class Article:
    """One article as it lies in its file."""

    name: str
    front: dict[str, Any]
    body: str
    tokens: tuple[Token, ...]

    @property
    def links(self) -> list[str]:
        """Where the links of the body lead."""
        children = (child for token in self.tokens for child in token.children or ())
        return [str(child.attrs["href"]) for child in children if child.type == "link_open"]


def read(name: str) -> Article:
    """Read an article; a file without front matter ends the test."""
    whole = (KB / f"{name}.md").read_text("utf-8")
    found = re.match(r"---\n(.*?)\n---\n(.*)\Z", whole, re.DOTALL)
    assert found, "no front matter between two lines of ---"
    body = found[2]
    return Article(name, yaml.safe_load(found[1]), body, tuple(MarkdownIt("commonmark").enable("table").parse(body)))


def test_there_are_articles_enough_and_each_subject_has_one_name() -> None:
    assert len(NAMES) >= 30
    titles = [read(name).front["title"] for name in NAMES]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("name", NAMES)
def test_the_front_matter_says_what_lists_and_searches_show(name: str) -> None:
    front = read(name).front
    assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name)
    assert list(front) == ["title", "summary", "topics", "rules", "references"]
    assert 0 < len(front["title"]) < 70
    assert 40 <= len(front["summary"]) <= 240
    assert 1 <= len(front["topics"]) <= 3
    assert set(front["topics"]) <= TOPICS


@pytest.mark.parametrize("name", NAMES)
def test_its_rules_exist_and_are_named_once(name: str) -> None:
    rules = read(name).front["rules"]
    assert rules, "an article gives background to at least one rule"
    assert set(rules) <= RULES
    assert len(set(rules)) == len(rules)


@pytest.mark.parametrize("name", NAMES)
def test_its_references_are_addresses_with_titles(name: str) -> None:
    references = read(name).front["references"]
    assert references
    for reference in references:
        assert list(reference) == ["title", "url"]
        assert reference["title"]
        assert re.fullmatch(r"https://[\w.-]+/\S*", reference["url"]), reference["url"]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_long_enough_to_explain_and_short_enough_to_read(name: str) -> None:
    assert 400 <= len(read(name).body.split()) <= 1200


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_somewhere(name: str) -> None:
    article = read(name)
    dead = [target for target in article.links if not leads_somewhere(target)]
    assert dead == []
    assert f"{name}.md" not in article.links, "an article that links to itself"


def leads_somewhere(target: str) -> bool:
    """Whether a link names a rule, an article, or an address on the web (which is not fetched)."""
    if target.startswith("rule:"):
        return target.removeprefix("rule:") in RULES
    return target.startswith("https://") or target.removesuffix(".md") in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_that_the_body_links_to_stands_in_the_front_matter(name: str) -> None:
    article = read(name)
    linked = {target.removeprefix("rule:") for target in article.links if target.startswith("rule:")}
    assert linked <= set(article.front["rules"])


@pytest.mark.parametrize("name", NAMES)
def test_headings_begin_below_the_title(name: str) -> None:
    levels = [int(token.tag[1]) for token in read(name).tokens if token.type == "heading_open"]
    assert levels, "no headings"
    assert min(levels) == 2
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


@pytest.mark.parametrize("name", NAMES)
def test_no_images_and_no_html(name: str) -> None:
    tokens = read(name).tokens
    inline = [child.type for token in tokens for child in token.children or ()]
    assert not {"image", "html_inline"} & set(inline)
    assert "html_block" not in [token.type for token in tokens]


@pytest.mark.parametrize("name", NAMES)
def test_code_names_its_language_and_python_parses(name: str) -> None:
    for token in read(name).tokens:
        assert token.type != "code_block", "indented code: fence it and name its language"
        if token.type == "fence":
            assert token.info in LANGUAGES, token.content
            if token.info == "python":
                ast.parse(token.content)


def test_most_rules_have_an_article_that_explains_them() -> None:
    explained = {rule for name in NAMES for rule in read(name).front["rules"]}
    assert len(explained) >= 0.85 * len(RULES), sorted(RULES - explained)


def test_every_topic_is_used_and_every_family_of_rules_is_covered() -> None:
    fronts = [read(name).front for name in NAMES]
    assert {topic for front in fronts for topic in front["topics"]} == TOPICS
    families = {rule.split(".")[0] for rule in RULES}
    assert {rule.split(".")[0] for front in fronts for rule in front["rules"]} == families
