"""`aifix rerun`: the second experiment: run a failed command again with the instruments that its diagnosis asks for."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import click

from aifix.commands import options, supervised
from aifix.commands.report import emit, note, rule_base

if TYPE_CHECKING:
    from aifix.model import Report
    from aifix.rerun import Again, Prepared
    from aifix.rerun.first import First


@click.command(context_settings=supervised.AS_IT_IS)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option("--from", "origin", metavar="LOG", default="", help="The log of the run that failed: its diagnosis chooses the instruments.")
@options.KB
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would be set.")
@click.option("--with", "add", metavar="NAME", multiple=True, help="Use this instrument, too (may be repeated).")
@click.option("--without", "leave_out", metavar="NAME", multiple=True, help="Do not use this one.")
@click.option("--instruments", "listing", is_flag=True, help="List the instruments there are, and what each sets.")
@supervised.LOG
@click.option("--keep", metavar="DIR", default="", help="A folder for what the instruments write (by default a temporary one).")
@supervised.STALL
@supervised.reporting("Do not announce the instruments.")
def rerun(
    command: tuple[str, ...],
    *,
    origin: str,
    dry_run: bool,
    add: tuple[str, ...],
    leave_out: tuple[str, ...],
    listing: bool,
    keep: str,
    quiet: bool,
    kb: str,
    **given: Any,
) -> None:
    """Run a failed command again with instruments, and name the line to blame.

    Without COMMAND it is the last one that failed, as the history knows it. --from names the log of the failure; without it the history
    is asked how this command failed last.

    The instruments follow from the first run's diagnosis: synchronous launches for CUDA errors, anomaly detection for backward, the
    flight recorder for timeouts, the loader's own words for missing libraries, and so on. They come in through the environment; no
    file of yours changes. What will be set is said first. The exit status is the command's own.
    """
    from aifix import rerun as again
    from aifix.rerun import runner
    from aifix.rerun.instruments import INSTRUMENTS

    if listing:
        _list()
        return
    unknown = [name for name in (*add, *leave_out) if name not in INSTRUMENTS]
    if unknown:
        raise click.UsageError(f"there is no instrument {unknown[0]!r}; aifix rerun --instruments lists them")
    command, first = _before(command, origin, kb)
    shown = {"format": given["form"], "quiet": False, "verbose": given["verbose"], "colour": given["colour"]}
    try:
        folder = runner.new_folder(keep)
        prepared = again.prepare(command, first, folder=folder, add=add, leave_out=leave_out)
        if dry_run or not quiet:
            _announce(prepared, first, dry_run=dry_run)
        if dry_run:
            if not keep:
                runner.clear(folder)
            return
        done = again.rerun(
            prepared, first, log=given["log"], stall=given["stall"], probe=given["probe"], python=given["python"],
            divert=supervised.diverts(given["form"]), unsupervised=supervised.become(command, prepared.environ),
        )  # fmt: skip
    except (OSError, MemoryError) as error:
        supervised.not_begun(error, given["log"] or keep, command)

    def tell() -> None:
        _tell(done, prepared, first, shown)
        if not keep and not done.written and done.sharpened is None:
            runner.clear(folder)  # of a failure the output is kept: it is named above

    supervised.conclude(done.outcome, given["form"], tell)


def _before(command: tuple[str, ...], origin: str, kb: str) -> tuple[tuple[str, ...], First | None]:
    """Give the command to run, and what is known of its failure: from a log, or from the history."""
    from aifix.rerun import first as before

    if origin:
        if not command:
            raise click.UsageError("no command was given: aifix rerun --from LOG -- COMMAND...")
        return command, _from_log(origin)
    if command:
        return command, before.of_command(command, os.getcwd(), kb)  # noqa: PTH109
    try:
        remembered = before.last(kb)
        os.chdir(remembered.folder)
    except (before.NotRemembered, OSError) as error:
        raise click.UsageError(f"no command was given, and {error}; aifix rerun -- COMMAND...") from None
    return remembered.command, remembered.first


def _from_log(origin: str) -> First:
    from aifix import api
    from aifix.rerun import first as before

    try:
        document = api.read_file(origin)
    except OSError as error:
        note(f"{origin} cannot be read: {error.strerror or error}")
        raise SystemExit(2) from None
    return before.of_report(api.diagnose_document(document), document)


def _list() -> None:
    from aifix.rerun.instruments import INSTRUMENTS

    width = max(map(len, INSTRUMENTS))
    for instrument in INSTRUMENTS.values():
        click.echo(f"{instrument.name:{width}}  {instrument.tells}" + (f" ({instrument.costs})" if instrument.costs else ""))
        for name, value in instrument.environ.items():
            click.echo(f"{'':{width}}    {name}={value}")


def _announce(prepared: Prepared, first: First | None, *, dry_run: bool) -> None:
    """Say what will be set, and why."""
    from aifix.show.safe import sanitise

    origin = f" ({first.origin})" if first is not None and first.origin else ""
    if first is None:
        note("the first run's diagnosis is not known (--from LOG names it); instruments that cost next to nothing are used")
    elif not first.ids:
        note(f"no rule knows the first run's failure{origin}")
    else:
        note(f"the first run ended with {first.ids[0]}: {sanitise(first.title)}{origin}")
    note(f"{'would run' if dry_run else 'running'} again: {sanitise(shlex.join(prepared.command))}")
    for instrument in prepared.instruments:
        note(f"  {instrument.name}: {instrument.tells}" + (f" ({instrument.costs})" if instrument.costs else ""))
    if prepared.changed:
        note("  sets " + " ".join(f"{name}={shlex.quote(value)}" for name, value in prepared.changed.items()))
    if any(instrument.inside for instrument in prepared.instruments):
        note("  puts a sitecustomize of its own first into PYTHONPATH, which runs yours afterwards; no file of the program changes")


def _tell(done: Again, prepared: Prepared, first: First | None, shown: dict[str, object]) -> None:
    """Say how the second run ended, and what both come to."""
    from aifix.rerun import runner
    from aifix.show.safe import sanitise

    outcome = done.outcome
    report = outcome.report
    text = shown["format"] == "text"
    if report is None:  # it did not start
        return
    if any(instrument.inside for instrument in prepared.instruments) and not done.reached:
        note("no Python of this run took the instruments inside (is it Python, and without -I, -E or -S?)")
    if done.sharpened is None:
        if text:
            before = f"; {first.ids[0]} did not come back" if first is not None and first.ids else ""
            note(f"with the instruments it ended well{before}")
            _changed_course(prepared)
        else:
            emit(report, shown)
        return
    rule_base()
    sharpened = done.sharpened
    told = sharpened.report.diagnoses[0].id if sharpened.report.diagnoses else ""
    if text and first is not None and first.ids and told and told not in first.ids:
        note(f"it ended otherwise than before: with {told} instead of {first.ids[0]}")
    if text and outcome.unfinished:
        click.echo(err=True)
    emit(sharpened.report, shown, lines=outcome.lines, to_error=text)
    if text and sharpened.blame is not None:
        place = sharpened.blame
        code = f": {sanitise(place.source)}" if place.source else ""
        note(f"to blame: {sanitise(place.file)}:{place.line}" + (f" in {sanitise(place.function)}" if place.function else "") + code)
    if text and not sharpened.report.diagnoses:
        for sentence in sharpened.said:
            note(sanitise(sentence))
    if text and first is None and told:
        _next(sharpened.report, prepared)
    for file in done.written:
        note(f"written: {file}")
    for command in runner.readers(done.written):
        note(f"read it with: {command}")


def _next(report: Report, prepared: Prepared) -> None:
    """Say how to run once more, where the failure, now that it is known, asks for instruments that this run did not have."""
    from aifix.rerun.instruments import asked_for
    from aifix.show.safe import sanitise

    asked, reasons = asked_for([one.id for one in report.diagnoses[:1]])
    more = [one.name for one in asked if reasons[one.name] and one not in prepared.instruments]
    if more:
        note(f"{report.diagnoses[0].id} asks for more ({', '.join(more)}); it is known now, so once more:")
        note(f"  aifix rerun --from {sanitise(shlex.quote(report.source))} -- {sanitise(shlex.join(prepared.command))}")


def _changed_course(prepared: Prepared) -> None:
    """Say what a failure that stays away under instruments points to."""
    names = {instrument.name for instrument in prepared.instruments}
    if "single-process" in names:
        note("data was loaded in the main process: the failure belongs to the worker processes (fork, shared memory, threads), not to a sample")
    elif names & {"synchronous", "synchronous-rocm"}:
        note("kernels ran one after the other: the failure depends on what runs at the same time (streams, a race), or it comes only now and then")
