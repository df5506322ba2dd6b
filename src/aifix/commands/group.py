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

    def resolve_command(self, context: click.Context, arguments: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; of one that there is not, say what was most likely meant.

        Raises:
            click.UsageError: there is no such command.

        """
        name = arguments[0]
        if name.startswith("-") or context.resilient_parsing or self.get_command(context, name) is not None:
            return super().resolve_command(context, arguments)
        raise click.UsageError(f"No such command {name!r}. {self.meant(context, arguments)}".rstrip(), context)

    def meant(self, context: click.Context, arguments: list[str]) -> str:
        """Say what was most likely meant by a command that there is not; nothing where nothing is near."""
        from difflib import get_close_matches

        near = get_close_matches(arguments[0].lower(), self.list_commands(context), n=2)
        return f"Did you mean {' or '.join(map(repr, near))}?" if near else ""

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
