"""`aifix watch`: run a training as it is, and say while it runs what goes wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from aifix.commands import remember, supervised
from aifix.commands.report import emit, note, rule_base

if TYPE_CHECKING:
    from aifix.watching.session import Watched


@click.command(context_settings=supervised.AS_IT_IS)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option(
    "--budget", type=click.FloatRange(0.01, 50), metavar="PERCENT", default=0.5, show_default=True, help="Share of the time that samples may take."
)
@supervised.LOG
@supervised.STALL
@supervised.reporting("Say nothing of a run that ended well without an alarm.")
@supervised.remembering
def watch(
    command: tuple[str, ...],
    *,
    budget: float,
    form: str,
    quiet: bool,
    verbose: bool,
    colour: bool | None,
    history: bool,
    kb: str,
    **given: Any,
) -> None:
    """Run a training as it is, and say while it runs what goes wrong with it.

    Watched are nan and inf, exploding and vanishing gradients, the loss scale, a loss that stands still or diverges, memory that grows,
    and the waiting for data, of whatever torch trains below COMMAND. No file of yours changes, and neither does a result. Alarms go to
    standard error at once, and with their fixes at the end. The exit status is the command's own.
    """
    from aifix.watching import session

    keeps = remember.Supervised(command, {"history": history, "kb": kb, "quiet": quiet, "format": form, "python": given["python"]})
    try:
        watched = session.watch(
            command,
            budget=budget / 100,
            divert=supervised.diverts(form),
            memory=keeps.memory,
            unsupervised=supervised.become(command),
            **given,
        )
    except (OSError, MemoryError) as error:
        supervised.not_begun(error, given["log"], command)

    def tell() -> None:
        _tell(watched, {"format": form, "quiet": quiet, "verbose": verbose, "colour": colour})
        keeps.ended(watched.outcome)

    supervised.conclude(watched.outcome, form, tell)


def _tell(watched: Watched, options: dict[str, object]) -> None:
    """Say how it ended: the failure, where there is one, and the alarms with their fixes."""
    from aifix.supervise.words import duration
    from aifix.watching.alarms import joined

    outcome = watched.outcome
    if outcome.report is None:  # it did not start
        return
    found = watched.collected.diagnoses()
    report = joined(outcome.report, found)
    text = options["format"] == "text"
    if outcome.unfinished and not (options["quiet"] and not report.failed):
        click.echo(err=True)
    stopped = supervised.stopped_by_hand(outcome)
    if text and not (options["quiet"] and not report.failed):
        how = "ended well" if not outcome.status else "interrupted" if stopped else f"exit status {outcome.status}"
        note(f"{how} after {duration(outcome.seconds)}; {_measured(watched)}")
    if text and stopped and not found and not options["verbose"]:  # whoever pressed Ctrl-C knows it
        return
    if report.failed or not text:
        rule_base()
        emit(report, options, lines=outcome.lines, to_error=text)


def _measured(watched: Watched) -> str:
    """Say how much was seen, and what that cost."""
    if watched.hindered:
        return f"nothing was watched: {watched.hindered}"
    if watched.broken:
        return f"the watching ended early, which is a fault of aifix: {watched.broken}"
    if not watched.reached:
        return "nothing was watched: no Python of this run took the watcher in (is it Python, and without -I, -E or -S?)"
    if not watched.steps:
        return "nothing was watched: no torch optimizer made a step"
    alarms = len(watched.collected.alarms)
    said = f"{alarms} {'alarm' if alarms == 1 else 'alarms'}" if alarms else "no alarm"
    return f"{watched.steps:,} steps watched, {watched.samples:,} of them closely ({watched.share:.1%} of the time); {said}"
