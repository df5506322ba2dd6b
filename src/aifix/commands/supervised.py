"""What the commands share that run a command of the user's: `run`, `watch`, `rerun`."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from aifix.commands import options
from aifix.commands.remember import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from aifix.supervise.plan import Outcome

SIGINT_STATUS = 130
AS_IT_IS = {"ignore_unknown_options": False, "allow_interspersed_args": False}
"""How click reads the line: what follows the command's name is the command's."""


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


LOG = click.option("--log", metavar="FILE", default="", help="Keep the whole output in a file.")
STALL = click.option("--stall", type=Length(), metavar="TIME", default=0.0, help="When nothing is printed for so long (10m), say what the run does.")
remembering = options.history("Remember failures and what ended them (see `aifix history`).")


def reporting(quiet: str) -> Callable[[Any], Any]:
    """Make the options of the report at the end; `quiet` says what is not said then."""
    return options.together(
        options.form("How to report.", options.REPORTS),
        click.option("--quiet", "-q", is_flag=True, help=quiet),
        options.VERBOSE,
        click.option("--color/--no-color", "colour", default=None, help="Force colours on or off in the report."),
        click.option("--probe/--no-probe", default=True, help="Let this machine answer after a failure."),
        click.option("--python", metavar="PATH", default="", help="The interpreter of the run; found by itself."),
    )


def diverts(form: str) -> bool:
    """Whether the report is all that goes to standard output, so that the command's own output goes elsewhere."""
    return form in {"json", "sarif"}


def stopped_by_hand(outcome: Outcome) -> bool:
    """Whether the run ended by Ctrl-C, and nothing else is known to have gone wrong with it."""
    if not outcome.interrupted or outcome.status != SIGINT_STATUS or outcome.report is None:
        return False
    return not outcome.report.diagnoses or outcome.report.diagnoses[0].id == INTERRUPTED


def leave(status: int) -> NoReturn:
    """End as the command ended: at once, and without a thread that still waits for the terminal."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed
            stream.flush()
    os._exit(status)
