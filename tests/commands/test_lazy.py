from __future__ import annotations

import click
import pytest

from aifix.commands.main import Lazy, cli


@pytest.mark.parametrize("name", Lazy.lazy)
def test_the_help_says_of_a_lazy_command_what_the_command_says(name: str) -> None:
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None
    assert Lazy.lazy[name][1] == (command.help or "").partition("\n\n")[0].replace("\n", " ")


def test_every_command_stands_in_the_help() -> None:
    context = click.Context(cli, info_name="aifix")
    shown = context.get_help()
    assert all(f"\n  {name} " in shown for name in cli.list_commands(context))
