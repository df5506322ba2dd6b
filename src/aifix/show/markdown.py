"""Rules and articles as Markdown: for the terminal (rich) and for the handbook site (MkDocs), which differ only in how they write a link.

Texts of rules are escaped, so that none of them becomes markup: a rule pack may come from a stranger.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aifix.lazy import lazy_re
from aifix.probes import registry
from aifix.show import handbook
from aifix.show.safe import one_line, sanitise, sanitise_block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from aifix.kb.articles import Article
    from aifix.model import Action, Example, FixTemplate, Rule
    from aifix.show.handbook import Links

    Linked = Callable[[str, str, str], str]
    """Writes a link: its kind (`rule` or `article`), the id or name, and the text, which is Markdown already."""

LANGUAGES = {"command": "bash", "env": "bash", "code": "python", "config": "text"}
"""How the text of a fix is highlighted."""
LONGEST_EXAMPLE = 12
"""Lines of an example on a page; the last ones tell most."""

FIRST = 5
"""Wordings that stand at the top of a page; all follow at its end."""
TABLE = ("| what is printed | by |", "|---|---|")
EVERY = "every-wording"

_SPECIAL = lazy_re(r"([\\`*_{}\[\]#+!|~])|(?<!\w)(-)")
_NUMBERED = lazy_re(r"^(\s*\d+)([.)])", re.MULTILINE)
_TICKS = lazy_re(r"`+")


def escape(text: str) -> str:
    """Write prose so that Markdown and HTML read it as it is."""
    text = sanitise_block(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _NUMBERED.sub(r"\1\\\2", _SPECIAL.sub(_escaped, text))


def _escaped(found: re.Match[str]) -> str:
    """Escape a character; a tilde, with which python-markdown leaves the backslash, is written as an entity."""
    return "&#126;" if found[0] == "~" else "\\" + found[0]


def inline(text: str) -> str:
    """Escape a text and put it on one line."""
    return escape(" ".join(text.split()))


def code(text: str) -> str:
    """Write a short text as code."""
    text = one_line(text)
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def spans(text: str) -> str:
    """Escape one line in which pieces of code stand between backticks, as docstrings have them."""
    pieces = " ".join(text.split()).split("`")
    if len(pieces) % 2 == 0:
        return inline(text)
    return "".join(code(piece) if number % 2 else escape(piece) for number, piece in enumerate(pieces))


def block(text: str, language: str = "text") -> str:
    """Write lines as a block of code that nothing in it can end."""
    text = sanitise_block(text).strip("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def plain(kind: str, target: str, text: str) -> str:
    """Write a link for the terminal: the name by which `aifix kb show` finds the target stands behind the text."""
    return text if kind == "rule" and target in text.replace("\\", "").replace("`", "") else f"{text} ({code(target)})"


def rule_page(
    rule: Rule,
    links: Links,
    *,
    titles: Mapping[str, str],
    articles: Sequence[tuple[str, str]] = (),
    examples: Iterable[Example] = (),
    counterexamples: Iterable[Example] = (),
    linked: Linked = plain,
) -> str:
    """Lay a rule out as a page of the handbook.

    Args:
        rule: The rule as the base has it.
        links: The rules that it hangs with.
        titles: The titles of all rules, by id.
        articles: Names and titles of the articles about it.
        examples: Real messages that give this diagnosis.
        counterexamples: Near texts that do not.
        linked: How a link is written.
    """
    page = handbook.without_case(rule)

    def to(rule_id: str) -> str:
        return _titled(linked("rule", rule_id, code(rule_id)), titles.get(rule_id, ""))

    rows = _printed(rule)
    parts = [f"# {inline(page.title)}", _about(rule)]
    parts += _message(rows, "" if linked is plain else EVERY, examples)
    parts += ["## What it means", *(spans(part) for part in page.explain.split("\n\n") if part.strip())]
    parts += _telling(rule, links, counterexamples, to)
    parts += _fixes(page.fixes)
    parts += _probes(rule)
    parts += _hanging(links, to)
    if articles:
        parts += ["## Read more", _listed(linked("article", name, inline(title)) for name, title in articles)]
    if len(rows) > FIRST:
        parts += ["## Every wording", "\n".join([*TABLE, *rows])]
    if rule.references:
        parts += ["## References", _listed(reference(address) for address in rule.references)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _place(action: Action) -> bool:
    """Tell an action whose text comes whole from the case: without one there is nothing to show."""
    return re.fullmatch(r"<\w+>", action.text.strip()) is not None


def reference(address: str, title: str = "") -> str:
    """Write a link to the web; an address that is none is shown as text."""
    address = sanitise(address).strip()
    if not re.fullmatch(r"https?://[^\s<>()\"`]+(?:\([^\s<>()\"`]*\)[^\s<>()\"`]*)*", address):
        return inline(f"{title} {address}".strip())
    return f"[{inline(title)}]({address})" if title else f"<{address}>"


def _titled(link: str, title: str) -> str:
    return f"{link}: {inline(title)}" if title else link


def _listed(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _about(rule: Rule) -> str:
    parts = [code(rule.id), f"severity {rule.severity}"]
    if rule.phase:
        parts.append("met in " + ", ".join(inline(phase) for phase in rule.phase))
    if rule.tags:
        parts.append(", ".join(inline(tag) for tag in rule.tags))
    lines = [" · ".join(parts)]
    if rule.symptom:
        lines.append("Usually a consequence of another failure: look for its cause in the same log first.")
    if rule.transient:
        lines.append("It may pass when the program is started again unchanged.")
    if rule.origin != "built-in":
        lines.append(f"From {inline(rule.origin)}.")
    return "\n\n".join(lines)


def _printed(rule: Rule) -> list[str]:
    """Give a row for each wording, with the programs and versions that print it."""
    found: dict[str, list[str]] = {}
    for signature in rule.signatures:
        said = handbook.wording(signature)
        shown = code(said).replace("|", "\\|") if said else "what no single line says: " + inline(signature.source)
        by = found.setdefault(shown, [])
        if signature.covers and (covers := inline(signature.covers)) not in by:
            by.append(covers)
    return [f"| {shown} | {'; '.join(by) or 'not recorded'} |" for shown, by in found.items()]


def _message(rows: list[str], anchor: str, examples: Iterable[Example]) -> list[str]:
    """Give a real message, and the first of the wordings."""
    found = ["## The message"]
    example = next(iter(examples), None)
    if example is not None:
        lines = [line for line in example.text.strip("\n").splitlines() if line.strip()]
        found.append(block("\n".join(["…"] * (len(lines) > LONGEST_EXAMPLE) + lines[-LONGEST_EXAMPLE:])))
    if rows:
        found.append("\n".join([*TABLE, *rows[:FIRST]]))
        if len(rows) > FIRST:
            found.append(f"and {len(rows) - FIRST} more, [below](#{anchor})" if anchor else f"and {len(rows) - FIRST} more, below")
    else:
        found.append("It has no message of its own: it is told from a more general diagnosis by its numbers, or by what else the log says.")
    return found


def _telling(rule: Rule, links: Links, counterexamples: Iterable[Example], to: Callable[[str], str]) -> list[str]:
    """Say how to tell it from its neighbours: by what is read, by conditions, by near texts."""
    found: list[str] = []
    names = dict.fromkeys(name for signature in rule.signatures for name in signature.types)
    names |= dict.fromkeys(name for collector in rule.collect for name in collector.types)
    if names:
        found.append("- aifix reads off the log: " + ", ".join(code(name) for name in names))
    found += [f"- where {code(one.when)}, it is {to(one.to)}" for one in rule.refine if one.to in links.refined]
    found += [f"- it is a special case of {to(other)}" for other in links.refines]
    if rule.yields_to:
        found.append(
            "- it gives way to " + ", ".join(code(name) for name in rule.yields_to) + " in the same log, which name the same event more exactly"
        )
    near = [
        "- " + code(_brief(example.text)) + (f" is {to(example.id)}" if example.id else " is something else")
        for example in counterexamples
        if example.text.strip()
    ]
    if near:
        found += ["", "Not to be mistaken for it:", "", *near]
    return ["## How to tell", "\n".join(found).strip("\n")] if found else []


def _brief(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    said = " ".join(lines[-1].split())
    return said if len(said) <= 160 else said[:158].rstrip() + " …"


def _fixes(fixes: Iterable[FixTemplate]) -> list[str]:
    found: list[str] = []
    for number, fix in enumerate(fixes, 1):
        risk = "no risk" if fix.risk in ("", "none") else f"risk: {inline(fix.risk)}"
        found += [
            f"### {number}\\. {inline(fix.title)}",
            f"{fix.effort} effort · {risk} · ends it in about {round(fix.prior * 100)} of 100 cases",
        ]
        if fix.when:
            found.append(f"Where {code(fix.when)}.")
        found += [f"{'Likelier' if item.odds > 1 else 'Less likely'} where {code(item.when)} (odds × {item.odds:g})." for item in fix.given]
        found += [spans(fix.why), *(_action(action) for action in fix.do if not _place(action))]
    return ["## Fixes, in the order in which to try them", *found] if found else []


def _action(action: Action) -> str:
    if action.kind == "note":
        return "\n\n".join(spans(part) for part in action.text.split("\n\n"))
    if action.kind == "patch":
        return f"As a patch of your code: {code('aifix fix N LOG')} (the change {code(action.text)})."
    return block(action.text, LANGUAGES.get(action.kind, "text"))


def _probes(rule: Rule) -> list[str]:
    rows: list[str] = []
    for use in rule.probes:
        probe = registry.BY_ID.get(use.id)
        question = inline(probe.question) if probe else ""
        rows.append(f"| {code(f'aifix probe {use.id}')} | {question} | × {use.confirmed:g} | × {use.refuted:g} |")
    if not rows:
        return []
    head = ["| check | question | odds if confirmed | if refuted |", "|---|---|---|---|"]
    return ["## Checks of this machine", "\n".join([*head, *rows])]


def _hanging(links: Links, to: Callable[[str], str]) -> list[str]:
    found: list[str] = []
    for words, ids in (("May be caused by", links.causes), ("May cause", links.symptoms), ("Special cases", links.refined)):
        if ids:
            found += [f"{words}:", _listed(to(other) for other in ids)]
    return ["## Causes and consequences", *found] if found else []


def article_page(article: Article, *, titles: Mapping[str, str], linked: Linked = plain) -> str:
    """Lay an article out as a page: its title, its summary, its body with links written anew, and what it hangs with.

    Args:
        article: The article.
        titles: The titles of the rules that it names, by id.
        linked: How a link is written.
    """
    from aifix.kb import articles as library

    def anew(link: library.Link) -> str:
        return (
            f"[{link.text}]({link.target})"
            if link.kind in {"web", "file"}
            else linked(link.kind, link.target + f"#{link.anchor}" * bool(link.anchor), link.text)
        )

    parts = [f"# {inline(article.title)}", f"*{inline(article.summary)}*", library.relink(article.body, anew).strip("\n")]
    if article.rules:
        parts += ["## Diagnoses", _listed(_titled(linked("rule", rule, code(rule)), titles.get(rule, "")) for rule in article.rules)]
    if article.references:
        parts += ["## References", _listed(reference(one.url, one.title) for one in article.references)]
    return "\n\n".join(parts) + "\n"
