"""`aifix rules`: list, show, lint, test and scaffold rules."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aifix.commands.group import Sentences
from aifix.commands.report import note, unknown_name
from aifix.kb import articles
from aifix.probes import registry
from aifix.rulebase import base as rulebase
from aifix.rulebase import compile as compiler
from aifix.rulebase import paths
from aifix.show.layout import counted
from aifix.show.safe import sanitise, sanitise_block

if TYPE_CHECKING:
    from aifix.model import Document
    from aifix.rulebase.base import Base
    from aifix.rulebase.source import Loaded


@click.group(cls=Sentences)
def rules() -> None:
    """List, show, check and write rules."""


def _all() -> tuple[list[Loaded], list[str]]:
    """Load the built-in rules and the user's, from their YAML."""
    loaded, problems = compiler.load_folder(Path(paths.rules_folder()))
    by_id = {item.rule.id: item for item in loaded}
    for folder, name in rulebase.user_folders():
        own, more = compiler.load_folder(Path(folder), name)
        problems += more
        by_id.update({item.rule.id: item for item in own})
    return list(by_id.values()), [str(problem) for problem in problems]


def _whole(loaded: list[Loaded]) -> Base:
    catalogues, _ = compiler.load_catalogues(Path(paths.rules_folder()))
    return rulebase.from_rules([item.rule for item in loaded], catalogues)


@rules.command("list")
@click.option("--family", default="", help="Only ids that start so.")
def list_rules(family: str) -> None:
    """List all diagnoses, one a line."""
    from aifix.reason import templates

    base = rulebase.load()
    for rule_id in sorted(base):
        if rule_id.startswith(family):
            rule = base[rule_id]
            mark = "" if rule.origin == "built-in" else f"  ({rule.origin})"
            click.echo(sanitise(f"{rule_id:34} {templates.bare(rule.title)}{mark}"))


@rules.command()
@click.argument("rule_id", metavar="ID")
@click.pass_context
def show(context: click.Context, rule_id: str) -> None:
    """Print the YAML of a rule, and name the articles about it (`aifix kb show ID` renders a rule as a page)."""
    loaded, _ = _all()
    for item in loaded:
        if item.rule.id == rule_id:
            click.echo(sanitise_block(Path(item.file).read_text("utf-8")), nl=False)
            for name, title in articles.background(rule_id):
                click.echo(f"# read: aifix kb show {name}    ({' '.join(title.split())})")
            return
    unknown_name("rule", rule_id, (item.rule.id for item in loaded), "`aifix rules list` names all")
    context.exit(2)


@rules.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.pass_context
def lint(context: click.Context, files: tuple[Path, ...]) -> None:
    """Check rule files (all rules, and the articles about them, by default): form, speed, texts, examples, links."""
    from aifix.rulebase import lint as linter
    from aifix.rulebase.source import RuleError, load

    loaded, problems = _all()
    chosen = loaded
    if files:
        chosen, problems = [], []
        for path in [one for given in files for one in (compiler.rule_files(given) if given.is_dir() else [given])]:
            try:
                chosen.append(load(path))
            except RuleError:
                problems += [str(problem) for problem in linter.file_problems(path)]
    known = {item.rule.id: item.rule for item in [*loaded, *chosen]}
    problems += [str(problem) for problem in linter.lint(chosen, known, probes=registry.ids())]
    if not files:
        from aifix.kb import check

        problems += check.lint(articles.folder(), known)
    for problem in problems:
        click.echo(sanitise(str(problem)))
    click.echo(f"{counted(len(chosen), 'rule')}, {counted(len(problems), 'problem')}")
    context.exit(1 if problems else 0)


@rules.command()
@click.argument("ids", nargs=-1)
@click.pass_context
def test(context: click.Context, ids: tuple[str, ...]) -> None:
    """Diagnose every example with the whole base (of the rules whose ids start with IDS)."""
    from aifix.rulebase.check import failures

    started = time.monotonic()
    loaded, problems = _all()
    chosen = [item for item in loaded if not ids or any(item.rule.id == name or item.rule.id.startswith(name) for name in ids)]
    if not chosen:
        note(f"no rule's id starts with {' or '.join(ids)}; `aifix rules list` names all")
        context.exit(2)
    found = 0
    for problem in problems:
        click.echo(sanitise(str(problem)))
    for failure in failures(chosen, _whole(loaded)):
        click.echo(sanitise(str(failure)))
        found += 1
    examples = sum(len(item.examples) + len(item.counterexamples) for item in chosen)
    click.echo(f"{counted(len(chosen), 'rule')}, {examples} examples, {found} wrong, {time.monotonic() - started:.1f} s")
    context.exit(1 if found or problems else 0)


def _say_known(given: Document) -> None:
    """Say that a rule knows the failure already: another wording of it belongs into that rule."""
    from aifix import api

    known = next((one.id for one in api.diagnose_document(given).diagnoses if not one.symptom), "")
    if known:
        note(f"{known} knows this failure already; another wording of the same belongs into it: aifix rules show {known}")


@rules.command()
@click.argument("rule_id", metavar="ID", default="family.name")
@click.pass_context
def new(context: click.Context, rule_id: str) -> None:
    """Scaffold a rule from a log on standard input, or else from the last failure that the history remembers."""
    from aifix.commands.remember import given_input, kept_output, memory_of
    from aifix.intake import document, packed
    from aifix.rulebase.scaffold import scaffold

    piped = given_input()
    kept = None if piped else kept_output(memory_of({}))
    if not piped and kept is None:
        note("give the log on standard input: aifix rules new family.name < crash.log")
        context.exit(2)
    try:
        given = document.read(kept.blocks if kept is not None else packed.unpacked(piped))
        click.echo(scaffold(given, rule_id), nl=False)
        _say_known(given)
    except (OSError, ValueError) as error:
        note(str(error))
        context.exit(2)
