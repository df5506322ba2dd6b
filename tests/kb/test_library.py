"""Articles as they are read: parsed, compiled, tied to rules, and refused with file and line where they are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aifix.kb import articles as library
from aifix.kb import build, check
from aifix.kb.articles import Article, ArticleError, Articles, Link, parse
from aifix.rulebase import base as rulebase
from aifix.rulebase import compile as compiler

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """---
title: How a thing works
summary: What it does.
topics: [memory]
rules: [cuda.oom]
references:
  - {title: "Docs", url: "https://docs.example.org/x"}
---

See [the rule](rule:cuda.oom), [another](other.md#part) and [the web](https://example.org/a).

```python
x["a"](b)    # [no](link.md)
```

Nor is `[this](one.md)`.
"""


def article(name: str, *rules: str) -> Article:
    return Article(name, name.title(), "A summary.", ("memory",), rules, (), "Text.\n")


def test_an_article_is_its_front_matter_and_its_body() -> None:
    found = parse(GOOD, "thing")
    assert (found.name, found.title, found.topics, found.rules) == ("thing", "How a thing works", ("memory",), ("cuda.oom",))
    assert found.references[0].url == "https://docs.example.org/x"
    assert found.body.startswith("See [the rule]")


def test_links_are_those_outside_of_code() -> None:
    assert library.links(parse(GOOD, "thing").body) == [
        Link("rule", "cuda.oom", "the rule"),
        Link("article", "other", "another", "part"),
        Link("web", "https://example.org/a", "the web"),
    ]


def test_relinking_changes_links_and_nothing_else() -> None:
    body = parse(GOOD, "thing").body
    changed = library.relink(body, lambda link: f"<{link.kind}>")
    assert "See <rule>, <article> and <web>." in changed
    assert 'x["a"](b)    # [no](link.md)' in changed
    assert "`[this](one.md)`" in changed


@pytest.mark.parametrize(
    ("old", "new", "where", "reason"),
    [
        ("---\ntitle", "title", "1:1", "begins with its front matter"),
        ("title: How a thing works\n", "", "2:1", "title"),
        ("topics: [memory]", "topics: memory", "4:", "Expected `array`"),
        ("topics: [memory]", "topic: [memory]", "", "unknown field `topic`"),
        ("topics: [memory]", "topics: [memory", "5:", "not valid YAML"),
        ("topics: [memory]", "topics: &a [memory]\nrules2: *a", "", "aliases"),
    ],
)
def test_a_broken_article_is_refused_with_its_place(old: str, new: str, where: str, reason: str) -> None:
    assert old in GOOD
    with pytest.raises(ArticleError) as refused:
        parse(GOOD.replace(old, new, 1), "thing", "kb/thing.md")
    assert str(refused.value).startswith(f"kb/thing.md:{where}"), refused.value
    assert reason in str(refused.value)


def test_a_rule_leads_first_to_the_article_that_names_it_first() -> None:
    broad, other = article("broad", "a.one", "a.two", "a.three"), article("other", "a.two", "a.one")
    listed = Articles([broad, other, article("narrow", "a.one")])
    assert [one.name for one in listed.of_rule("a.one")] == ["narrow", "broad", "other"]
    assert listed.of_rule("a.four") == ()


def test_every_rule_that_an_article_names_leads_back_to_it() -> None:
    listed = library.load()
    assert len(listed) >= 30
    assert all(one in listed.of_rule(rule) for one in listed.values() for rule in one.rules)


def test_the_articles_of_this_tree_are_sound() -> None:
    assert library.load().messages == ()
    assert check.lint(library.folder(), rulebase.load()) == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("rules: [cuda.oom]", "rules: [cuda.ooom]", "thing.md:5:1: it names cuda.ooom, which is no rule"),
        ("(rule:cuda.oom)", "(rule:cuda.none)", "links to cuda.none, which is no rule"),
        ("(other.md#part)", "(missing.md)", "links to missing.md, which is no article"),
        ("https://example.org/a", "http://example.org/a", "no https:// address"),
        ("(other.md#part)", "(picture.png)", "it links to picture.png"),
        ("summary: What it does.", "summary: ''", "the summary has 0 characters"),
        ("rules: [cuda.oom]", "rules: []", "it names no rule"),
    ],
)
def test_lint_finds_what_leads_nowhere(tmp_path: Path, old: str, new: str, reason: str) -> None:
    (tmp_path / "thing.md").write_text(GOOD.replace(old, new), encoding="utf-8")
    (tmp_path / "other.md").write_text(GOOD.replace("other.md#part", "thing.md"), encoding="utf-8")
    (problem,) = check.lint(str(tmp_path), {"cuda.oom"})
    assert reason in problem


def test_a_compiled_article_is_the_one_that_was_written(tmp_path: Path) -> None:
    """As the wheel is built: articles and index beside the compiled rules."""
    source = tmp_path / "kb"
    source.mkdir()
    (source / "README.md").write_text("no article", encoding="utf-8")
    (source / "thing.md").write_text(GOOD, encoding="utf-8")
    out = tmp_path / "out"
    loaded = [rulebase.load()["cuda.oom"]]
    compiler.write(compiler.encode(loaded, {}), out)
    build.build(source, out)
    compiled = library._read(str(out))
    assert compiled is not None
    assert list(compiled.articles) == [parse(GOOD, "thing")]
    (source / "thing.md").write_text("no front matter", encoding="utf-8")
    with pytest.raises(ArticleError, match="front matter"):
        build.build(source, out)


def test_a_damaged_compiled_file_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIFIX_CACHE", str(tmp_path))
    whole = dict(library._load())
    (compiled,) = tmp_path.rglob(library.COMPILED)
    compiled.write_bytes(compiled.read_bytes()[: compiled.stat().st_size // 2])
    assert dict(library._load()) == whole
    assert library._read(str(compiled.parent)) is not None
