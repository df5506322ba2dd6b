"""One page a rule, one a family, and all families."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aifix.rulebase import compile as compiler
from aifix.rulebase import paths
from aifix.show import handbook, markdown
from site_pages.page import Page, UndocumentedError, linked_from, relative, rule_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aifix.kb.articles import Articles
    from aifix.model import Rule
    from aifix.rulebase.source import Loaded

INDEX = "diagnoses/index.md"
TAGS = "diagnoses/tags.md"
PHASES = {
    "install": "While installing",
    "build": "While building",
    "startup": "At the start",
    "data": "While reading data",
    "training": "In training",
    "checkpoint": "Saving and loading checkpoints",
    "inference": "In inference",
    "serving": "In serving",
    "distributed": "With several ranks",
    "hardware": "When hardware is ill",
}
"""Headings of the phases that rules name."""


def load() -> list[Loaded]:
    """Read all built-in rules with their examples.

    Raises:
        UndocumentedError: a file is no rule, or a family has no name.

    """
    loaded, problems = compiler.load_folder(Path(paths.rules_folder()))
    if problems:
        raise UndocumentedError(str(problems[0]))
    for family in {item.rule.id.partition(".")[0] for item in loaded} - set(handbook.FAMILIES):
        raise UndocumentedError(f"the family {family} has no name in src/aifix/show/handbook.py")
    return sorted(loaded, key=lambda item: item.rule.id)


def pages(loaded: list[Loaded], articles: Articles) -> Iterator[Page]:
    """Give the pages of all rules, of their families, and the indexes."""
    rules = {item.rule.id: item.rule for item in loaded}
    links = handbook.links(rules)
    titles = {rule_id: handbook.title(rule) for rule_id, rule in rules.items()}
    for item in loaded:
        path = rule_path(item.rule.id)
        text = markdown.rule_page(
            item.rule,
            links[item.rule.id],
            titles=titles,
            articles=[(article.name, article.title) for article in articles.of_rule(item.rule.id)],
            examples=item.examples,
            counterexamples=item.counterexamples,
            linked=linked_from(path),
        )
        yield Page(path, titles[item.rule.id], text, f"{item.rule.id}: {handbook.without_case(item.rule).explain}"[:300])
    families = _families(rules.values())
    for family, listed in families.items():
        yield _family(family, listed, titles)
    yield _index(families)
    yield _tags(rules.values(), titles)


def _families(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.id.partition(".")[0], []).append(rule)
    return found


def name_of(family: str) -> str:
    """Say what a family is called, without its own short name; a program's name keeps its small letter."""
    name = handbook.FAMILIES[family].partition(": ")[2]
    return name if "." in name.partition(" ")[0].strip(",.") else name[0].upper() + name[1:]


def _counted(rules: list[Rule]) -> str:
    return "1 diagnosis" if len(rules) == 1 else f"{len(rules)} diagnoses"


def _item(rule: Rule, titles: dict[str, str], start: str) -> str:
    title = markdown.inline(titles[rule.id])
    return f"- [{title}]({relative(rule_path(rule.id), start)}) {markdown.code(rule.id)}" + (" · a consequence" if rule.symptom else "")


def _family(family: str, rules: list[Rule], titles: dict[str, str]) -> Page:
    path = f"diagnoses/{family}/index.md"
    name = name_of(family)
    text = [f"# {markdown.inline(name)}", f"{_counted(rules)} whose ids begin with {markdown.code(family + '.')}", ""]
    return Page(path, name, "\n\n".join(text) + "\n".join(_item(rule, titles, path) for rule in rules))


def _index(families: dict[str, list[Rule]]) -> Page:
    cards = [
        f"- **[{markdown.inline(name_of(family))}]({family}/index.md)**\n\n    {markdown.code(family)} · {_counted(rules)}"
        for family, rules in families.items()
    ]
    total = sum(map(len, families.values()))
    text = f"""# Diagnoses

aifix knows {total} diagnoses. Each has a page: what programs print, what it means, how it is told from its neighbours, and the fixes in
the order in which to try them. Search above for words of your message, or pipe the whole log: `python train.py 2>&1 | aifix`.

<div class="families" markdown>

{(chr(10) * 2).join(cards)}

</div>

They are also sorted [by framework, hardware and phase](tags.md).
"""
    return Page(INDEX, "All families", text, f"{total} diagnoses of failed AI programs, by family")


def _tags(rules: Iterable[Rule], titles: dict[str, str]) -> Page:
    listed = list(rules)
    parts = ["# By framework, hardware and phase", "What a rule says it is about. A diagnosis stands under each of its tags."]
    for phase, words in PHASES.items():
        inside = [rule for rule in listed if phase in rule.phase]
        if inside:
            parts += [f"## {words}", "\n".join(_item(rule, titles, TAGS) for rule in inside)]
    for tag in sorted({tag for rule in listed for tag in rule.tags}, key=str.lower):
        inside = [rule for rule in listed if tag in rule.tags]
        parts += [f"## {markdown.inline(tag)}", "\n".join(_item(rule, titles, TAGS) for rule in inside)]
    return Page(TAGS, "By framework, hardware, phase", "\n\n".join(parts), searched=False)
