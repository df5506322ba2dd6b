"""What the commands share that run a command of the user's: `run`, `watch`, `rerun`."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from aifix.commands import options
from aifix.commands.remember import INTERRUPTED
from aifix.commands.report import note
from aifix.pipe import ReplacedError, afresh, why_not

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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


def become(command: Sequence[str], environ: Mapping[str, str] | None = None) -> Callable[[], None] | None:
    """Make what turns this very process into the command: where no process or thread is left, it runs without us; None on Windows."""
    if sys.platform == "win32":
        return None

    def turn() -> None:
        for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores them, and what is ignored stays so
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        with contextlib.suppress(OSError):
            os.execvpe(command[0], list(command), dict(os.environ if environ is None else environ))  # noqa: S606 - the user's own command

    return turn


def not_begun(error: OSError | MemoryError, file: str, command: Sequence[str]) -> NoReturn:
    """Say why the run was not begun, and end with 2; where there is no room for aifix alone, run the command without it."""
    from aifix.supervise.supervisor import NO_ROOM

    turn = become(command) if isinstance(error, MemoryError) or error.errno in NO_ROOM else None
    if turn is not None:
        note(f"there is no room to supervise this run ({why_not(error)}); it runs without aifix")
        turn()
    note(why_not(error) if isinstance(error, MemoryError) else f"{error.filename or file or 'a file'} cannot be written: {error.strerror or error}")
    raise SystemExit(2)


def conclude(outcome: Outcome, form: str, tell: Callable[[], None]) -> NoReturn:
    """Say how the run ended, and end as the command ended, whatever goes wrong in the saying.

    Args:
        outcome: how it ended.
        form: how to report.
        tell: says it.

    """
    try:
        if not outcome.kept:
            tell()
        elif afresh(outcome.kept, ["diagnose", "--format", form, "-"], "output" if diverts(form) else "error") is None:
            note(f"the run ended with {outcome.status}; {why_not(ReplacedError())}")
    except Exception as error:  # noqa: BLE001 - a wrapper ends as the command ended
        note(f"the run ended with {outcome.status}; more cannot be said: {why_not(error)}")
    leave(outcome.status)


def leave(status: int) -> NoReturn:
    """End as the command ended: at once, and without a thread that still waits for the terminal."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed
            stream.flush()
    os._exit(status)
