"""`aifix kb`: search, list and read the handbook: all rules and articles."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from aifix.commands import options
from aifix.commands.group import Sentences
from aifix.commands.report import note, unknown_name

if TYPE_CHECKING:
    from aifix.kb.articles import Article, Articles
    from aifix.kb.search import Found
    from aifix.model import Rule
    from aifix.rulebase.base import Base
    from aifix.show.stream import Display


@click.group(cls=Sentences, invoke_without_command=True)
@click.pass_context
def kb(context: click.Context) -> None:
    """Search and read the handbook: articles, and a page for every rule."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help() + "\n")
        _print_list(_articles(), "", _display(None))


@kb.command("search")
@click.argument("text", nargs=-1, required=True)
@click.option("--most", "-n", type=click.IntRange(1, 100), default=10, show_default=True, help="How many to give at most.")
@click.option("--only", type=click.Choice(["articles", "rules"]), default=None, help="Look for articles, or for rules, alone.")
@options.form("How to print it.")
@options.COLOUR
@click.pass_context
def search_handbook(context: click.Context, /, text: tuple[str, ...], most: int, only: str | None, form: str, *, colour: bool | None) -> None:
    """Find articles and rules by words, or by an error message; typing errors are forgiven. Ends with 1 when nothing is found."""
    from aifix.kb import search
    from aifix.rulebase import base as rulebase

    query = " ".join(text)
    articles = _articles()
    found = search.searcher(rulebase.load()).search(query, most=most, kind=(only or "").removesuffix("s"))
    if form == "json":
        _json({"schema": "aifix.kb-search/1", "query": query, "found": [_plain(one) for one in found]})
    elif found:
        _print_found(found, _display(colour))
    else:
        note(f"nothing in the handbook ({len(articles)} articles and all rules) fits {query!r}; try fewer or other words")
    context.exit(0 if found else 1)


@kb.command("show")
@click.argument("name", metavar="NAME")
@options.form("How to print it.")
@options.COLOUR
@click.pass_context
def show_page(context: click.Context, /, name: str, form: str, *, colour: bool | None) -> None:
    """Show an article by its name, or the page of a rule by its id."""
    from aifix.rulebase import base as rulebase

    articles = _articles()
    name = name.removesuffix(".md")
    article = articles.get(name)
    if article is not None:
        if form == "json":
            _json({"schema": "aifix.article/1", **_fields(article)})
        else:
            from aifix.show import handbook, markdown

            base = rulebase.load()
            titles = {rule: handbook.title(base[rule]) for rule in article.rules if rule in base}
            _print_markdown(markdown.article_page(article, titles=titles), colour=colour)
        return
    base = rulebase.load()
    rule = base.get(name)
    if rule is None:
        unknown_name("article or rule", name, [*articles, *base], "`aifix kb list` names the articles")
        context.exit(2)
    elif form == "json":
        _json({"schema": "aifix.rule/1", **_fields(rule), "articles": [one.name for one in articles.of_rule(rule.id)]})
    else:
        _print_markdown(_rule_page(rule, base, articles), colour=colour)


@kb.command("list")
@click.option("--topic", default="", help="Only articles on this topic.")
@options.form("How to print it.")
@options.COLOUR
@click.pass_context
def list_articles(context: click.Context, /, topic: str, form: str, *, colour: bool | None) -> None:
    """List all articles by topic (`aifix rules list` lists the rules)."""
    articles = _articles()
    if topic and topic not in articles.topics():
        note(f"there is no topic {topic}; there are {', '.join(articles.topics())}")
        context.exit(2)
    if form == "json":
        listed = [
            {key: value for key, value in _fields(one).items() if key != "body"} for one in articles.values() if not topic or topic in one.topics
        ]
        _json({"schema": "aifix.articles/1", "articles": listed})
    else:
        _print_list(articles, topic, _display(colour))


def _articles() -> Articles:
    from aifix.kb import articles

    found = articles.load()
    for message in found.messages:
        note(message)
    return found


def _display(colour: bool | None) -> Display:  # noqa: FBT001 - as click gives it
    from aifix.show.stream import display_of

    return display_of(sys.stdout, colour=colour)


def _json(data: Any) -> None:
    from aifix.show.json import dump

    click.echo(dump(data), nl=False)


def _fields(noun: Article | Rule) -> dict[str, Any]:
    import msgspec

    fields: dict[str, Any] = msgspec.to_builtins(noun)
    return fields


def _plain(found: Found) -> dict[str, Any]:
    """Give what was found without the marks around the words."""
    from aifix.kb.search import END, START

    snippet = found.snippet.replace(START, "").replace(END, "")
    return {"kind": found.kind, "name": found.name, "title": found.title, "summary": found.summary, "score": found.score, "snippet": snippet}


def _print_found(found: list[Found], display: Display) -> None:
    """Name each find, and show the passage in which it was found."""
    from aifix.kb.search import END, START
    from aifix.show.layout import Paint, hang
    from aifix.show.safe import fit_encoding, sanitise

    paint = Paint(colour=display.colour)
    out: list[str] = []
    for one in found:
        head = f"{sanitise(one.name)}  {sanitise(one.title)}" + ("" if one.kind == "rule" else "  (article)")
        for number, line in enumerate(hang(head, display.width, "", "    ")):
            name = sanitise(one.name)
            out.append(paint.strong(name) + line[len(name) :] if number == 0 and line.startswith(name) else line)
        passage = one.snippet or one.summary
        plain = sanitise(passage.replace(START, "").replace(END, ""))
        marked = [sanitise(part.partition(END)[0]) for part in passage.split(START)[1:]]
        out += [_mark(line, marked, paint) for line in hang(plain, display.width, "    ")]
    out += ["", paint.dim("read one: aifix kb show NAME")]
    click.echo(fit_encoding("\n".join(out), display.encoding), color=display.colour)


def _mark(line: str, words: list[str], paint: Any) -> str:
    """Dim a passage but for the words that were looked for."""
    import re

    if not paint.colour or not words:
        return str(paint.dim(line))
    pieces = re.split("(" + "|".join(map(re.escape, sorted(set(words), key=len, reverse=True))) + ")", line)
    return "".join(paint.good(piece) if number % 2 else paint.dim(piece) for number, piece in enumerate(pieces))


def _print_list(articles: Articles, topic: str, display: Display) -> None:
    """Print the articles under their topics; an article stands under its first one."""
    from aifix.show.layout import Paint, hang
    from aifix.show.safe import fit_encoding, sanitise

    paint = Paint(colour=display.colour)
    groups: dict[str, list[Article]] = {}
    for article in articles.values():
        if not topic or topic in article.topics:
            groups.setdefault(topic or next(iter(article.topics), "other"), []).append(article)
    width = max((len(article.name) for article in articles.values()), default=0)
    out: list[str] = []
    for name, listed in sorted(groups.items()):
        out += ["", paint.strong(sanitise(name))]
        for article in listed:
            out += hang(sanitise(article.title), display.width, f"  {sanitise(article.name):<{width}}  ")
    out += ["", paint.dim("read one: aifix kb show NAME; rules have pages too: aifix kb show cuda.oom")] if groups else ["there are no articles"]
    click.echo(fit_encoding("\n".join(out).lstrip("\n"), display.encoding), color=display.colour)


def _rule_page(rule: Rule, base: Base, articles: Articles) -> str:
    from aifix.show import handbook, markdown

    titles = {one.id: handbook.title(one) for one in base.values()}
    about = [(article.name, article.title) for article in articles.of_rule(rule.id)]
    return markdown.rule_page(rule, handbook.links(base)[rule.id], titles=titles, articles=about)


def _print_markdown(text: str, *, colour: bool | None) -> None:
    from aifix.show import reading

    display = _display(colour)
    click.echo(reading.render(text, display), nl=False, color=display.colour)
