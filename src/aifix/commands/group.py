"""A group of commands whose help says what each of them does, in whole sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

WHOLE = 1000
"""Characters up to which click gives the first sentence of a help uncut."""


class Sentences(click.Group):
    """A group that wraps the lines about its commands where click would cut them."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with its first sentence."""
        found = [(name, self.get_command(context, name)) for name in self.list_commands(context)]
        self.write(formatter, ((name, command) for name, command in found if command is not None))

    @staticmethod
    def write(formatter: click.HelpFormatter, commands: Iterable[tuple[str, click.Command]]) -> None:
        """Write the list of commands."""
        rows = [(name, command.get_short_help_str(WHOLE)) for name, command in commands if not command.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
