"""Rules and articles as Markdown: complete, and inert whatever a stranger's rule says."""

from __future__ import annotations

import re

import markdown as python_markdown
import pytest
from markdown_it import MarkdownIt

from aifix.model import Action, Example, FixTemplate, Rule, Signature
from aifix.show import markdown, reading
from aifix.show.handbook import Links
from aifix.show.stream import Display

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "*a* _b_ **c** __d__ ~~e~~ `f` # g",
    "# heading\n\n- item\n1. one\n> quote\n---\n| a | b |\n|---|---|",
    "&lt;b&gt; &#60;i&#62; a & b",
    "```\nend of block\n```\n<b>out</b>",
    "\x1b]8;;https://evil.example\x07text\x1b]8;;\x07 \x1b[2Jgone \u202eright",
    "{: onclick=alert(1) } {.class}",
]


def rule(text: str) -> Rule:
    signature = Signature(pattern=".", source=text, cores=(), covers=text)
    fix = FixTemplate("one", text, 0.5, "low", text, (Action("code", text), Action("note", text), Action("patch", text)), when=text, why=text)
    return Rule("a.b", text, "error", text, signatures=(signature,), fixes=(fix,), tags=(text,), phase=(text,), references=(text,), origin=text)


def page(text: str) -> str:
    return markdown.rule_page(
        rule(text), Links(), titles={"a.b": text}, articles=[("name", text)], examples=[Example(text)], counterexamples=[Example(text, id="a.b")]
    )


def html(text: str) -> dict[str, str]:
    site = python_markdown.markdown(text, extensions=["tables", "attr_list", "md_in_html", "pymdownx.superfences", "pymdownx.betterem", "sane_lists"])
    return {"site": site, "terminal": MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)}


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_rule_becomes_markup(text: str) -> None:
    plain = html(page("harmless"))
    for renderer, rendered in html(page(text)).items():
        for tag in ("<script", "<img", "<a ", "<b>", "<i>", "<h1", "<h2", "<hr", "<blockquote", "<em>", "<strong>", "<del>"):
            assert rendered.count(tag) == plain[renderer].count(tag), (renderer, tag, rendered)
        assert not re.search(r"<[^>]*(?:onclick|onerror|javascript:)", rendered), renderer


@pytest.mark.parametrize(
    "text", ["a*b*c", "x_y_z", "1. one", "- dash", "a|b", "<tag>", "a & b", "tick ` tick", "2 + 2 = 4", "~5 %", "#define", r"back\slash", "[a](b)"]
)
def test_what_is_escaped_reads_as_it_was(text: str) -> None:
    for renderer, rendered in html(markdown.escape(text)).items():
        shown = rendered.replace("<p>", "").replace("</p>", "").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
        assert shown.replace("&amp;", "&").replace("&#126;", "~").strip() == text, renderer


@pytest.mark.parametrize("text", ["plain", "one ` tick", "``two``", "`", "a | b"])
def test_code_reads_as_it_was(text: str) -> None:
    for renderer, rendered in html(markdown.code(text)).items():
        assert f"<code>{text}</code>" in rendered, renderer


def test_only_addresses_of_the_web_become_links() -> None:
    assert markdown.reference("https://docs.pytorch.org/x#y", "Docs") == "[Docs](https://docs.pytorch.org/x#y)"
    assert markdown.reference("javascript:alert(1)", "Docs") == "Docs javascript:alert(1)"


def test_docstrings_keep_their_code() -> None:
    assert markdown.spans("Say `a|b` to <it>") == "Say `a|b` to &lt;it&gt;"


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_it_reaches_the_terminal_as_an_escape(text: str, *, colour: bool) -> None:
    shown = reading.render(page(text), Display(80, colour))
    assert "\x1b]" not in shown
    assert "\x1b[2J" not in shown
    assert "\u202e" not in shown
    assert ("\x1b[" in shown) == colour


def test_a_page_is_as_wide_as_the_terminal_and_prints_in_ascii() -> None:
    shown = reading.render(page("harmless words " * 20), Display(40, encoding="ascii"))
    assert shown.isascii()
    prose = [line for line in shown.splitlines() if not line.startswith("    ")]
    assert max(map(len, prose)) <= 40


def test_a_line_that_comes_whole_from_the_case_is_left_out_of_the_page() -> None:
    from aifix.rulebase import base

    rules = base.load()
    page = markdown.rule_page(rules["cuda.oom"], Links(), titles={})
    assert "batch\\_size = max" in page or "batch_size = max" in page
    assert "smaller_command" not in page
    assert "batch\\_line" not in page
