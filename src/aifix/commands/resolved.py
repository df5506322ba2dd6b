"""`aifix resolved`: say whether a fix ended a failure; the order of fixes learns from it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from aifix.commands import options
from aifix.commands.history import EMPTY, opened
from aifix.commands.report import note

if TYPE_CHECKING:
    from aifix.kb import Incident, Store


@click.command()
@click.argument("number", type=int, required=False)
@click.option("--fix", metavar="ID", default="", help="The fix, by its id or its place in the list; 'own' for one that aifix did not name.")
@click.option("--worked/--failed", "worked", default=None, help="Whether the failure went away by it.")
@click.option("--note", "remark", metavar="TEXT", default="", help="A few words; alone they describe a fix of your own.")
@options.KB
@click.pass_context
def resolved(context: click.Context, /, number: int | None, *, fix: str, worked: bool | None, remark: str, kb: str) -> None:
    """Say which fix ended a failure, or did not: the order of fixes learns from it.

    Without a number it is about the last failure of which nothing was said. On a terminal it asks for what is not given. Fixes that work
    move up when the same diagnosis is made again, in this project first.
    """
    from aifix import kb as base

    with opened(context, kb, writing=True) as store:
        incident = base.get(store, number) if number else base.unanswered(store)
        if incident is None:
            note(f"there is no failure {number} in the history" if number else EMPTY)
            context.exit(2)
        described = bool(remark) and not fix  # a note alone tells of a fix that worked
        chosen = _fix(incident, fix, remark)
        if chosen == base.OWN and not remark and sys.stdin.isatty():
            remark = click.prompt("What was it, in a few words?", default="", show_default=False)
        if worked is None:
            worked = True if described else _asked(incident, chosen)
        before = _chance(store, incident, chosen)
        base.record_outcome(store, incident, chosen, worked=worked, note=remark)
        after = _chance(store, incident, chosen)
    verdict = "ended" if worked else "did not end"
    moved = f"; its chance is now {after:.2f} (was {before:.2f})" if after is not None and before is not None else ""
    click.echo(f"Noted: {chosen} {verdict} failure {incident.number} ({incident.diagnosis}){moved}.")


def _fix(incident: Incident, given: str, remark: str) -> str:
    """Find the fix that is meant."""
    from aifix import api
    from aifix.kb import OWN

    ids = [one.id for one in incident.fixes]
    if given:
        if given.isdecimal() and 0 < int(given) <= len(ids):
            return ids[int(given) - 1]
        rules = api.rule_base()
        known = {*ids, OWN, *(one.id for one in (rules[incident.diagnosis].fixes if incident.diagnosis in rules else ()))}
        if given in known:
            return given
        raise click.UsageError(f"{incident.diagnosis} has no fix {given}; it has {', '.join(sorted(known))}")
    if remark:
        return OWN
    if not sys.stdin.isatty():
        listed = ", ".join(f"{number} {one}" for number, one in enumerate(ids, start=1))
        raise click.UsageError(f"say which fix: --fix ID ({listed or 'none was offered'}), or --note TEXT for one of your own")
    return _ask(incident)


def _ask(incident: Incident) -> str:
    from aifix.kb import OWN
    from aifix.show.history import when
    from aifix.show.safe import sanitise

    click.echo(f"Failure {incident.number} of {when(incident.at)}: {sanitise(incident.title)}")
    for number, one in enumerate(incident.fixes, start=1):
        click.echo(f"  {number}  {sanitise(one.title)}")
    click.echo("  0  something else")
    chosen: int = click.prompt("Which fix did you try?", type=click.IntRange(0, len(incident.fixes)))
    return incident.fixes[chosen - 1].id if chosen else OWN


def _asked(incident: Incident, fix: str) -> bool:
    if not sys.stdin.isatty():
        raise click.UsageError(f"say whether {fix} worked: --worked or --failed")
    del incident
    return click.confirm("Did it end the failure?", default=True)


def _chance(store: Store, incident: Incident, fix: str) -> float | None:
    """Give the chance of a fix as it stands."""
    from aifix import api
    from aifix.kb import learning

    rule = api.rule_base().get(incident.diagnosis)
    return learning.chance_now(store, rule, fix, incident.project) if rule is not None else None
