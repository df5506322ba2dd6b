"""`aifix history`: the failures of before: list, show, search, count, export, import, remove."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from aifix.commands import options
from aifix.commands.group import Sentences
from aifix.commands.report import note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aifix.kb import Incident, Store
    from aifix.show.stream import Display

EMPTY = "the history is empty: nothing has failed yet"
PRINTING = options.together(options.form("How to print."), options.COLOUR)


@click.group(cls=Sentences, invoke_without_command=True)
@click.option("--number", "-n", "limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many to list.")
@options.KB
@PRINTING
@click.pass_context
def history(context: click.Context, /, *, limit: int, kb: str, form: str, colour: bool | None) -> None:
    """List the last failures; show, search, count, export, import or remove them.

    The pipe and `aifix run` remember every failure of a run of yours; a log that lies in a file is remembered with --remember. Nothing is
    sent anywhere. AIFIX_NO_HISTORY=1 and --no-history switch it off; AIFIX_HOME names another folder, --kb FILE another file.
    """
    if context.invoked_subcommand is None:
        from aifix import kb as base

        _list(context, kb, form, colour=colour, read=lambda store: base.recent(store, limit), empty=EMPTY)


@history.command()
@click.argument("number", type=int, required=False)
@click.option("--verbose", "-v", is_flag=True, help="All packages.")
@options.KB
@PRINTING
@click.pass_context
def show(context: click.Context, /, number: int | None, *, verbose: bool, kb: str, form: str, colour: bool | None) -> None:
    """Show everything that is known of failure N (by default the last one)."""
    from aifix import kb as base

    with opened(context, kb) as store:
        number = number or next((one.number for one in base.recent(store, 1)), 0)
        incident = base.get(store, number)
        if incident is None:
            _missing(context, store, number)
            return
        outcomes = base.outcomes(store, incident.uid)
        met = base.alike(store, incident.fingerprint, 1000)
    if form == "json":
        _json({"incident": incident, "outcomes": outcomes, "alike": [one.number for one in met]})
        return
    from aifix.show.history import render_incident

    click.echo(render_incident(incident, outcomes, _display(colour), met=met, verbose=verbose), nl=False, color=colour)


@history.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--number", "-n", "limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many to list.")
@options.KB
@PRINTING
@click.pass_context
def search(context: click.Context, /, text: tuple[str, ...], *, limit: int, kb: str, form: str, colour: bool | None) -> None:
    """List the failures whose message, facts, command, place or host hold all words; the last word may be cut."""
    from aifix import kb as base

    _list(context, kb, form, colour=colour, read=lambda store: base.find(store, " ".join(text), limit), empty=f"no failure holds {' '.join(text)!r}")


@history.command()
@options.KB
@PRINTING
@click.pass_context
def stats(context: click.Context, /, *, kb: str, form: str, colour: bool | None) -> None:
    """Draw what fails most, where and when, what it cost, and what helped."""
    from aifix import kb as base

    with opened(context, kb) as store:
        figures = base.statistics(store)
    if form == "json":
        _json(figures)
        return
    from aifix.show.history import render_statistics

    click.echo(render_statistics(figures, _display(colour)), nl=False, color=colour)


@history.command()
@click.argument("numbers", type=int, nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Everything, and what it taught.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.KB
@click.pass_context
def rm(context: click.Context, /, numbers: tuple[int, ...], *, everything: bool, yes: bool, kb: str) -> None:
    """Remove failures by number. What was said about their fixes still counts; --all removes that, too."""
    from aifix import kb as base
    from aifix.kb import kept

    if not numbers and not everything:
        raise click.UsageError("name the numbers to remove, or --all")
    if everything and not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("--all removes the whole history; say so with --yes")
        click.confirm("Remove the whole history and everything that it taught?", abort=True)
    with opened(context, kb, writing=True) as store:
        removed = base.remove_all(store) if everything else base.remove(store, numbers)
        try:
            kept.forget(store.path, None if everything else numbers)
        except OSError as error:
            note(f"{error.filename or store.path} cannot be removed: {error.strerror or error}")
            context.exit(2)
    click.echo(f"{removed} removed")
    context.exit(0 if everything or removed == len(set(numbers)) else 1)


@history.command()
@click.argument("file", default="-")
@click.option("--outcomes", is_flag=True, help="Only which fix worked when: no texts, to be pooled by a team.")
@options.KB
@click.pass_context
def export(context: click.Context, /, file: str, *, outcomes: bool, kb: str) -> None:
    """Write the history to FILE ('-' is standard output), without secrets and names; `aifix history import` merges it elsewhere."""
    from aifix import kb as base
    from aifix.show.json import printable

    with opened(context, kb) as store:
        try:
            with click.open_file(file, "wb", atomic=file != "-") as stream:
                for line in base.export(store, whole=not outcomes):
                    stream.write(printable(line))
        except OSError as error:
            note(f"{file} cannot be written: {error.strerror or error}")
            context.exit(2)


@history.command("import")
@click.argument("file", metavar="FILE")
@options.KB
@click.pass_context
def import_(context: click.Context, /, file: str, *, kb: str) -> None:
    """Merge what `aifix history export` wrote ('-' is standard input). Doing so twice changes nothing."""
    from aifix import kb as base
    from aifix.kb.exchange import ExchangeError

    with opened(context, kb, writing=True) as store:
        try:
            with click.open_file(file, "rb") as stream:
                merged = base.merge(store, stream, name="standard input" if file == "-" else file)
        except OSError as error:
            note(f"{file} cannot be read: {error.strerror or error}")
            context.exit(2)
        except ExchangeError as error:
            note(f"{error}; nothing was merged")
            context.exit(2)
    click.echo(f"{merged.incidents} failures and {merged.outcomes} outcomes are new")


# ---------------------------------------------------------------- shared


@contextmanager
def opened(context: click.Context, path: str, *, writing: bool = False) -> Iterator[Store]:
    """Open the history for a command; what is wrong with it, also later, ends the command with one line and status 2."""
    from aifix import kb as base

    try:
        store = None if writing else base.open_for_reading(path)
        if store is None:
            store = base.open_store(path)
        with store:
            yield store
    except base.StoreError as error:
        note(str(error))
        context.exit(2)


def _list(context: click.Context, path: str, form: str, *, colour: bool | None, read: Callable[[Store], list[Incident]], empty: str) -> None:
    from aifix import kb as base

    with opened(context, path) as store:
        found = read(store)
        worked = {one.uid: next((outcome for outcome in base.outcomes(store, one.uid) if outcome.worked), None) for one in found}
    if form == "json":
        names = (
            "number",
            "uid",
            "at",
            "host",
            "how",
            "origin",
            "attempt",
            "command",
            "folder",
            "status",
            "seconds",
            "diagnosis",
            "title",
            "location",
        )
        _json([{name: getattr(one, name) for name in (*names, "fingerprint", "ended_at", "ended")} for one in found])
        return
    if not found:
        note(empty)
        return
    from aifix.show.history import render_list

    answers = {uid: f"{outcome.fix} ended it" for uid, outcome in worked.items() if outcome is not None}
    click.echo(render_list(found, answers, _display(colour)), nl=False, color=colour)


def _missing(context: click.Context, store: Store, number: int) -> None:
    from aifix import kb as base

    last = base.recent(store, 1)
    note(f"there is no failure {number} in {store.path}; the last one is {last[0].number}" if last else EMPTY)
    context.exit(2)


def _display(colour: bool | None) -> Display:  # noqa: FBT001 - as click gives it
    from aifix.show.stream import display_of

    return display_of(sys.stdout, colour=colour)


def _json(value: Any) -> None:
    from aifix.show.json import dump

    click.echo(dump(value), nl=False)
