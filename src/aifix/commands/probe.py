"""`aifix probe`: check this machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from aifix.commands import options
from aifix.commands.report import note, unknown_name
from aifix.probes import registry

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aifix.probes.finding import Finding
    from aifix.probes.registry import Probe
    from aifix.probes.target import Target

WORDS = {"confirmed": "problem", "refuted": "fine", "inconclusive": "unclear", "not-available": "not here", "not-run": "not run"}
OPTIONS = {"paths": "--path", "shape": "--input"}
"""Options whose parameter has another name."""
READING, NPM = 10.0, 30.0
"""Seconds for all passive probes; with npm, which is asked where a tree was named."""
COLOURS = {"confirmed": "bold red", "refuted": "green", "inconclusive": "yellow", "not-available": "dim", "not-run": "dim"}


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@options.form("How to print the answers.")
@click.option("--list", "listing", is_flag=True, help="Explain every probe, and run none.")
@click.option("--active", is_flag=True, help="Run the active probes too: they import torch, allocate, and run kernels.")
@click.option("--python", metavar="PATH", default="", help="The interpreter, or the folder of its environment, to look at.")
@click.option("--node", metavar="DIR", default="", help="The folder of package.json (deps).")
@click.option("--port", type=int, help="The port to look at (host, dist); MASTER_PORT by default.")
@click.option("--path", "paths", multiple=True, help="A file or folder to look at (host, data).")
@click.option("--library", metavar="NAME", default="", help="A shared library to look for, as libGL.so.1 (host).")
@click.option("--dataset", metavar="WHAT", default="", help="pkg.module:factory, a csv file or a folder of images (data).")
@click.option("--classes", type=int, help="How many classes the labels may name (data).")
@click.option("--model", metavar="WHAT", default="", help="pkg.module:factory of a model (memory, numerics).")
@click.option("--input", "shape", metavar="SHAPE", default="", help="Shape of one sample, as 3x224x224, or pkg.module:factory of a batch.")
@click.option("--batch", type=int, default=8, show_default=True, help="Samples in a batch (memory, numerics).")
@click.option("--optimizer", type=click.Choice(["adam", "adamw", "sgd", "none"]), default="adam", show_default=True, help="Whose state to count.")
@click.option("--samples", type=int, default=2000, show_default=True, help="How many samples to read at most (data).")
@click.option("--timeout", type=float, default=60.0, show_default=True, help="Seconds for each active probe.")
@options.COLOUR
@click.pass_context
def probe(context: click.Context, /, names: tuple[str, ...], form: str, listing: bool, active: bool, **given: Any) -> None:  # noqa: FBT001
    """Check this machine, by probe (gpu.memory) or family (cuda, memory, health, dist, deps, data, host, numerics).

    Without a name every passive probe runs. Exit status: 1 when something is wrong, else 0.
    """
    if listing:
        _list(form, colour=given["colour"])
        return
    asked = _options(given)
    try:
        chosen = registry.select(names, active=active, given=asked)
    except registry.UnknownProbeError as error:
        unknown_name("probe", str(error.args[0]), [*registry.BY_ID, *registry.families()], "`aifix probe --list` names all")
        context.exit(2)
    skipped = [one for one in registry.members(names) if one not in chosen] if names else []
    target, found = _run(chosen, asked, python=given["python"])
    if given["python"] and not target.known:
        note(target.how)
        context.exit(2)
    if form == "json":
        _json(target, found)
    else:
        _table(target, found, skipped, colour=given["colour"], verbose=bool(names))
    context.exit(1 if any(finding.status == "confirmed" for _, finding in found) else 0)


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """Give what was asked for, under the names by which the registry knows the options."""
    asked: dict[str, Any] = {name: given[name] for name in ("batch", "optimizer", "samples", "timeout")}
    for name in ("node", "port", "dataset", "classes", "model", "shape", "paths", "library"):
        if given[name]:
            asked[name] = given[name]
            asked[OPTIONS.get(name, f"--{name}")] = given[name]
    return asked


def _run(chosen: list[Probe], asked: dict[str, Any], *, python: str) -> tuple[Target, list[tuple[Probe, Finding]]]:
    from aifix.probes import run
    from aifix.probes import target as targets
    from aifix.probes.finding import Case
    from aifix.probes.machine import Machine

    def catalogues() -> dict[str, dict[str, Any]]:
        from aifix import api

        return api.rule_base().catalogues

    target = targets.find(python=python)
    case = Case(Machine(target, catalogues=catalogues), options=asked)
    passive = [one for one in chosen if not one.active]
    answers = dict(zip(passive, run.passive([(one, case) for one in passive], limit=NPM if asked.get("node") else READING), strict=True))
    for one in chosen:
        if one.active:
            if sys.stderr.isatty():
                note(f"{one.id} runs, for at most {asked['timeout']:g} s")
            answers[one] = run.one(one, case)
    return target, [(one, answers[one]) for one in chosen]


def _json(target: Target, found: list[tuple[Probe, Finding]]) -> None:
    import msgspec

    from aifix.show.json import dump

    answer = {
        "schema": "aifix.probes/1",
        "target": {"python": target.python, "how": target.how},
        "failed": any(finding.status == "confirmed" for _, finding in found),
        "probes": [{"id": one.id, "question": one.question, **msgspec.to_builtins(finding)} for one, finding in found],
    }
    click.echo(dump(answer), nl=False)


def _console(colour: bool | None) -> Any:  # noqa: FBT001 - as click gives it
    from rich.console import Console

    return Console(force_terminal=True if colour else None, no_color=True if colour is False else None, highlight=False)


def _print(console: Any, table: Any) -> None:
    """Print a table without the blanks with which rich fills its lines: a line that is copied ends where its text does."""
    with console.capture() as capture:
        console.print(table)
    text = "".join(line.rstrip() + "\n" for line in capture.get().splitlines())
    click.echo(text, nl=False, color=console.is_terminal)


def _table(target: Target, found: list[tuple[Probe, Finding]], skipped: list[Probe], *, colour: bool | None, verbose: bool) -> None:
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from aifix.show.safe import sanitise

    console = _console(colour)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    for name, settings in (("probe", {"no_wrap": True}), ("status", {"no_wrap": True}), ("answer", {"overflow": "fold"})):
        table.add_column(name, **settings)
    told: dict[str, str] = {}
    for one, finding in found:
        same = told.setdefault(finding.summary, one.id)
        answer: RenderableType = Text(sanitise(finding.summary)) if same == one.id else Text(f"as {same}", style="dim")
        if finding.evidence and (verbose or finding.status == "confirmed"):
            answer = Group(answer, *(Padding(Text(sanitise(line), style="dim"), (0, 0, 0, 2)) for line in finding.evidence))
        table.add_row(Text(one.id, style="bold"), Text(WORDS[finding.status], style=COLOURS[finding.status]), answer)
    for one in skipped:
        table.add_row(Text(one.id, style="bold"), Text("not run", style="dim"), Text(f"asks for {one.needs or '--active'}", style="dim"))
    _print(console, table)
    console.print(Text(f"\npackages of {sanitise(target.name)}", style="dim"), soft_wrap=True)


def _list(form: str, *, colour: bool | None) -> None:
    if form == "json":
        import json

        listed = [{"id": one.id, "question": one.question, "active": one.active, "needs": one.needs} for one in registry.PROBES]
        click.echo(json.dumps(listed, indent=2))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    for one in registry.PROBES:
        kind = "passive" if not one.active else f"active, {one.needs}" if one.needs else "active"
        table.add_row(Text(one.id, style="bold"), Text(kind, style="dim"), Text(one.question))
    console = _console(colour)
    _print(console, table)
    console.print(Text("\nfamilies: " + ", ".join(registry.families()), style="dim"))
