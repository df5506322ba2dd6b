"""`aifix lab`: run the specimens, list them, begin a new one."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aifix.commands import options
from aifix.commands.group import Sentences
from aifix.commands.report import note, unknown_name
from aifix.lab import specimen as specimens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.lab.specimen import Specimen
    from aifix.rulebase.base import Base

FOLDER = click.option("--specimens", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Their folder; tests/specimens here or above.")


@click.group(cls=Sentences)
def lab() -> None:
    """Run specimens: programs that really fail, and their fixes."""


def _rules() -> Base:
    """Give the rule base; where a rule cannot be read nothing is proven, and the command ends with 2."""
    from aifix import api

    base = api.rule_base()
    for problem in base.problems:
        note(problem)
    if base.problems:
        raise click.exceptions.Exit(2)
    return base


def _chosen(folder: Path | None, names: Sequence[str]) -> list[Specimen]:
    """Read the specimens that are asked for; what cannot be read ends the command with 2 and one line."""
    place = folder or specimens.find_folder()
    if place is None or not place.is_dir():
        note(f"{place} is no folder" if place else "no tests/specimens here or above; name the folder with --specimens")
        raise click.exceptions.Exit(2)
    try:
        return specimens.load_chosen(place, names)
    except specimens.SpecimenError as error:
        note(str(error))
    except specimens.UnknownSpecimenError as error:
        name = str(error.args[0])
        note(f"there is no specimen {name}; begin one with: aifix lab new {name}")
    except OSError as error:
        note(f"{error.filename or place} cannot be read: {error.strerror or error}")
    raise click.exceptions.Exit(2)


@lab.command()
@click.argument("names", nargs=-1, metavar="[ID]...")
@click.option("--python", metavar="PATH", default="", help="The interpreter to run them with; this one by default.")
@FOLDER
@click.option("--jobs", "-j", type=click.IntRange(1, 64), help="How many at a time; as many as processors, four at most.")
@click.option("--gpu/--no-gpu", "gpu", default=None, help="Only those that need a GPU, or none of them.")
@options.form("How to print the table.")
@click.option("--verbose", "-v", is_flag=True, help="Show what the programs printed.")
@options.COLOUR
@click.pass_context
def run(context: click.Context, /, names: tuple[str, ...], folder: Path | None, **given: Any) -> None:
    """Run specimens (by id or family, all by default): does each fail, is it diagnosed, does each fix end it?

    Exit status: 1 when a claim does not hold, else 0.
    """
    from aifix.lab import environment, table, verify
    from aifix.lab.running import Runner
    from aifix.show.layout import Paint
    from aifix.show.stream import display_of

    _rules()
    chosen = [one for one in _chosen(folder, names) if given["gpu"] is None or one.form.gpu == given["gpu"]]
    try:
        target = environment.describe(_interpreter(given["python"]), chosen)
    except environment.NoTargetError as error:
        note(str(error))
        context.exit(2)
    started = time.monotonic()
    width = max((len(one.name) for one in chosen), default=8)
    paint = Paint(colour=display_of(sys.stdout, colour=given["colour"]).colour)
    text = given["form"] == "text"
    if text:
        click.echo(table.header(width))
    rows = []
    with Runner(target.python) as runner:
        for row in verify.verify_all(chosen, target, runner, given["jobs"] or min(4, os.cpu_count() or 1)):
            rows.append(row)
            if text:
                click.echo("\n".join(table.line(row, width, paint, verbose=given["verbose"])))
    seconds = time.monotonic() - started
    click.echo(table.summary(rows, target, seconds) if text else table.as_json(rows, target, seconds))
    context.exit(1 if any(row.verdict == "wrong" for row in rows) else 0)


def _interpreter(given: str) -> str:
    """Find the interpreter that is meant: a path, an environment's folder, or this one."""
    if not given:
        return sys.executable
    from aifix.probes import target

    return target.find(python=given).python or given


@lab.command("list")
@click.argument("names", nargs=-1, metavar="[ID]...")
@FOLDER
def list_specimens(names: tuple[str, ...], folder: Path | None) -> None:
    """List specimens, with how they run, what they need and which fixes they prove."""
    from aifix.show.safe import sanitise

    chosen = _chosen(folder, names)
    width = max((len(one.name) for one in chosen), default=8)
    for one in chosen:
        how = f"{one.form.ranks} ranks" if one.form.ranks else "warm" if one.warm else "slow" if one.slow else "anew"
        needs = ", ".join([*one.modules, *one.programs, *(name for name in ("root", "gpu", "network") if getattr(one.form, name))])
        click.echo(sanitise(f"{one.name:{width}}  {how:7}  {needs or '–':24}  {', '.join(proof.fix for proof in one.proofs) or 'no fix'}"))


@lab.command()
@click.argument("rule_id", metavar="ID")
@FOLDER
@click.pass_context
def new(context: click.Context, /, rule_id: str, folder: Path | None) -> None:
    """Begin a specimen for a diagnosis: a program, a fixed one, and specimen.yaml."""
    from aifix.lab.scaffold import scaffold

    base = _rules()
    named = rule_id.partition("+")[0]
    if named not in base:
        unknown_name("rule", named, base, "`aifix rules list` names all")
        context.exit(2)
    place = (folder or specimens.find_folder() or Path("tests", "specimens")) / rule_id
    try:
        written = scaffold(base[named], place)
    except FileExistsError:
        note(f"{place} is there already; a second specimen of an id is called {named}+variant")
        context.exit(2)
    except OSError as error:
        note(f"{place} cannot be written: {error.strerror or error}")
        context.exit(2)
    for path in written:
        click.echo(path)
    click.echo(f"run it with: aifix lab run {rule_id} --verbose")


@lab.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--python", metavar="PATH", default="", help="The interpreter to measure with; this one by default.")
@FOLDER
@click.option("--page", type=click.Path(path_type=Path, dir_okay=False), help="Write the page of all figures there.")
@click.pass_context
def figures(context: click.Context, /, names: tuple[str, ...], folder: Path | None, **given: Any) -> None:
    """Measure what fixes gain: the same work before and after.

    Exit status: 1 when a claim does not hold, else 0.
    """
    from aifix.lab import environment
    from aifix.lab import figures as measuring
    from aifix.lab.running import Runner

    place = folder or specimens.find_folder()
    if place is None:
        note("no tests/specimens here or above; name the folder with --specimens")
        context.exit(2)
    try:
        chosen = measuring.load_chosen(place, names)
        measuring.check(chosen, _rules())
        target = environment.describe(_interpreter(given["python"]), [])
    except (specimens.SpecimenError, environment.NoTargetError) as error:
        note(str(error))
        context.exit(2)
    found = []
    with Runner(target.python) as runner:
        for one in chosen:
            try:
                measured = measuring.measure(one, runner)
            except measuring.FigureError as error:
                note(str(error))
                context.exit(2)
            found += measured
            for row in measured:
                values = f"{measuring.shown(row.before, row.unit):>10} → {measuring.shown(row.after, row.unit):>10}  {measuring.ratio(row):>7}"
                click.echo(f"{row.figure:16} {row.what:32} {values}  {'yes' if row.holds else 'NO'}: {row.claim}")
    if given["page"] is not None:
        given["page"].write_text(measuring.page(found, target), "utf-8")
    context.exit(0 if all(row.holds for row in found) else 1)
