"""`aifix run`: supervise a command, and say at its end what killed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import msgspec

from aifix.commands import remember, supervised
from aifix.commands.report import emit, note, rule_base
from aifix.show.commands import LAST

if TYPE_CHECKING:
    from aifix.supervise.plan import Outcome


TELLING = 256 << 20
"""Bytes from which on the memory of a failed run is worth a word."""


@click.command(context_settings=supervised.AS_IT_IS)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@supervised.LOG
@supervised.STALL
@click.option("--kill-stalled", is_flag=True, help="Then end it, too.")
@click.option("--retry", type=click.IntRange(min=0), metavar="N", default=0, help="Start again up to N times when the failure is transient.")
@click.option("--retry-hook", metavar="CMD", default="", help="A shell command to run before each restart; when it fails, there is none.")
@click.option("--checkpoint-dir", metavar="DIR", default="", help="Tell the run its newest whole checkpoint in AIFIX_CHECKPOINT.")
@supervised.reporting("Say nothing of a run that ended well.")
@supervised.remembering
def run(
    command: tuple[str, ...],
    *,
    stall: float,
    kill_stalled: bool,
    form: str,
    quiet: bool,
    verbose: bool,
    colour: bool | None,
    history: bool,
    kb: str,
    **given: Any,
) -> None:
    """Run a command as it is, and say at its end what killed it.

    Its output passes untouched, with a terminal where there is one; the diagnosis goes to standard error. The exit status is the
    command's own, 128 + n after signal n. The command sees AIFIX_ATTEMPT, and AIFIX_CHECKPOINT and AIFIX_EXCLUDE where they apply.

    With --format json or sarif the report is all that goes to standard output; the command's own output goes to standard error.
    """
    from aifix.supervise import run as supervise

    if kill_stalled and not stall:
        raise click.UsageError("--kill-stalled needs --stall TIME")
    if given["retry_hook"] and not given["retry"]:
        raise click.UsageError("--retry-hook needs --retry N")
    keeps = remember.Supervised(command, {"history": history, "kb": kb, "quiet": quiet, "format": form, "python": given["python"]})
    try:
        outcome = supervise(
            command,
            stall=stall,
            kill_stalled=kill_stalled,
            divert=supervised.diverts(form),
            memory=keeps.memory,
            restarting=keeps.failed,
            unsupervised=supervised.become(command),
            **given,
        )
    except (OSError, MemoryError) as error:
        supervised.not_begun(error, given["log"], command)

    def tell() -> None:
        _tell(outcome, {"format": form, "quiet": quiet, "verbose": verbose, "colour": colour}, kept=keeps.keeps(outcome))
        keeps.ended(outcome)

    supervised.conclude(outcome, form, tell)


def _tell(outcome: Outcome, options: dict[str, object], *, kept: bool) -> None:
    """Say how it ended; where its output is kept, the commands of the report need no log."""
    from aifix.supervise.words import duration, size

    report = outcome.report
    if report is None:
        return
    text = options["format"] == "text"
    if outcome.unfinished and not (options["quiet"] and not outcome.status):
        click.echo(err=True)
    took = duration(outcome.seconds)
    if not outcome.status:
        if text and not options["quiet"]:
            again = f", at attempt {outcome.attempts}" if outcome.attempts > 1 else ""
            note(f"ended well after {took}{again}; {outcome.lines:,} {'line' if outcome.lines == 1 else 'lines'}")
        elif not text:
            emit(report, options)
        return
    if text and supervised.stopped_by_hand(outcome) and not options["verbose"]:
        note(f"interrupted after {took}; {outcome.lines:,} lines")
        return
    base = rule_base()
    if text or options["format"] == "github":
        from aifix.supervise.ending import explained

        what, meaning = explained(outcome.status, outcome.signal, base)
        peak = f"; its largest process held {size(outcome.peak_memory)}" if outcome.peak_memory >= TELLING else ""
        note(f"{what} after {took}{peak}" + (f": {meaning}" if meaning and report.diagnoses else ""))
    if text and kept and report.source == "-":
        report = msgspec.structs.replace(report, source=LAST)
    emit(report, options, lines=outcome.lines, to_error=text)
