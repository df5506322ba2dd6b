"""Options that more than one command takes, each said once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Command = TypeVar("_Command", bound="Callable[..., Any] | click.Command")

REPORTS = ("text", "json", "sarif", "github")
"""The forms of a report; whatever else is printed has the first two."""


def together(*options: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    """Make one decorator of several options, which the help lists in this order."""

    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def form(what: str, forms: Sequence[str] = ("text", "json")) -> Callable[[_Command], _Command]:
    """Make the option of the form in which something is printed.

    Args:
        what: its line in the help.
        forms: those to choose from; the first is the default.
    """
    return click.option("--format", "-f", "form", type=click.Choice(forms), default=forms[0], show_default=True, help=what)


def history(what: str) -> Callable[[_Command], _Command]:
    """Make the options of the history; `what` says what the command has to do with it."""
    return together(click.option("--history/--no-history", default=True, help=what), KB)


COLOUR = click.option("--color/--no-color", "colour", default=None, help="Force colours on or off.")
EXIT_ZERO = click.option("--exit-zero", is_flag=True, help="End with 0 even when a failure was seen.")
VERBOSE = click.option("--verbose", "-v", is_flag=True, help="Print every line of proof and every fix.")
KB = click.option("--kb", metavar="FILE", default="", help="The file of the history; the user's own by default.")

report = together(
    form("How to print the report.", REPORTS),
    click.option("--quiet", "-q", is_flag=True, help="Print nothing when nothing failed."),
    VERBOSE,
    EXIT_ZERO,
    COLOUR,
)
"""What every command takes that prints a report."""
probing = together(
    click.option("--probe/--no-probe", default=None, help="Let this machine answer (the pipe does, a named file does not)."),
    click.option("--python", metavar="PATH", default="", help="The interpreter of the failed run; found by itself in the pipe."),
)
"""Looking at this machine."""
remembering = history("Let earlier failures move the order of fixes; the pipe also remembers its own (see `aifix history`).")
"""Looking into the history."""
