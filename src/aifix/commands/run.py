"""`aifix run`: supervise a command, and say at its end what killed it."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from aifix.commands import remember
from aifix.commands.report import emit, note

if TYPE_CHECKING:
    from aifix.supervise.plan import Outcome


TELLING = 256 << 20
"""Bytes from which on the memory of a failed run is worth a word."""

INTERRUPTED = "host.interrupted"
SIGINT_STATUS = 130


class Length(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.2
    """A length of time: 90s, 10m, 1h30m."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read it."""
        from aifix.supervise.words import seconds

        if isinstance(value, (int, float)):
            return float(value)
        try:
            return seconds(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option("--log", metavar="FILE", default="", help="Keep the whole output in a file.")
@click.option("--stall", type=Length(), metavar="TIME", default=0.0, help="When nothing is printed for so long (10m), say what the run does.")
@click.option("--kill-stalled", is_flag=True, help="Then end it, too.")
@click.option("--retry", type=click.IntRange(min=0), metavar="N", default=0, help="Start again up to N times when the failure is transient.")
@click.option("--retry-hook", metavar="CMD", default="", help="A shell command to run before each restart; when it fails, there is none.")
@click.option("--checkpoint-dir", metavar="DIR", default="", help="Tell the run its newest whole checkpoint in AIFIX_CHECKPOINT.")
@click.option(
    "--format", "-f", "form", type=click.Choice(["text", "json", "sarif", "github"]), default="text", show_default=True, help="How to report."
)
@click.option("--quiet", "-q", is_flag=True, help="Say nothing of a run that ended well.")
@click.option("--verbose", "-v", is_flag=True, help="Print every line of proof and every fix.")
@click.option("--color/--no-color", "colour", default=None, help="Force colours on or off in the report.")
@click.option("--probe/--no-probe", default=True, help="Let this machine answer after a failure.")
@click.option("--python", metavar="PATH", default="", help="The interpreter of the run; found by itself.")
@click.option("--history/--no-history", default=True, help="Remember failures and what ended them (see `aifix history`).")
@click.option("--kb", metavar="FILE", default="", help="The file of the history; the user's own by default.")
@click.pass_context
def run(
    context: click.Context,
    /,
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
    divert = form in {"json", "sarif"}
    try:
        outcome = supervise(command, stall=stall, kill_stalled=kill_stalled, divert=divert, memory=keeps.memory, restarting=keeps.failed, **given)
    except OSError as error:
        note(f"{given['log']} cannot be written: {error.strerror or error}")
        context.exit(2)
    _tell(outcome, {"format": form, "quiet": quiet, "verbose": verbose, "colour": colour})
    keeps.ended(outcome)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed
            stream.flush()
    os._exit(outcome.status)  # at once, and without a thread that still waits for the terminal


def _tell(outcome: Outcome, options: dict[str, object]) -> None:
    """Say how it ended."""
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
    told = report.diagnoses[0].id if report.diagnoses else INTERRUPTED
    if text and outcome.interrupted and outcome.status == SIGINT_STATUS and told == INTERRUPTED and not options["verbose"]:
        note(f"interrupted after {took}; {outcome.lines:,} lines")
        return
    if text or options["format"] == "github":
        from aifix import api
        from aifix.supervise.ending import explained

        what, meaning = explained(outcome.status, outcome.signal, api.rule_base())
        peak = f"; its largest process held {size(outcome.peak_memory)}" if outcome.peak_memory >= TELLING else ""
        note(f"{what} after {took}{peak}" + (f": {meaning}" if meaning and report.diagnoses else ""))
    emit(report, options, lines=outcome.lines, to_error=text)
