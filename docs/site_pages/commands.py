"""The command reference, out of the commands themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from aifix.commands.main import cli
from aifix.show import markdown
from site_pages.page import Page, UndocumentedError

if TYPE_CHECKING:
    from collections.abc import Iterator

INDEX = "commands/index.md"
WIDTH = 100
KEPT = "{.kept}"
"""The class of code that is never broken (assets/handbook.css)."""


class Command:
    """A command with its path and its subcommands."""

    def __init__(self, command: click.Command, context: click.Context) -> None:
        """Walk down from a command.

        Raises:
            UndocumentedError: it, or one of its options, says nothing of itself.

        """
        self.name = context.command_path
        self.command = command
        self.context = context
        if not (command.help or "").strip():
            raise UndocumentedError(f"the command {self.name!r} has no help: write its docstring")
        for option in self.options():
            if not (option.help or "").strip():
                raise UndocumentedError(f"the option {option.opts[0]} of {self.name!r} has no help: give it help=")
        self.children: list[Command] = []
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                child = command.get_command(context, name)
                if child is not None and not child.hidden:
                    self.children.append(Command(child, click.Context(child, parent=context, info_name=name, terminal_width=WIDTH, color=False)))

    def options(self) -> list[click.Option]:
        """Give what is offered, without --help, which each command has."""
        return [one for one in self.command.get_params(self.context) if isinstance(one, click.Option) and not one.hidden and "--help" not in one.opts]

    def walk(self) -> Iterator[Command]:
        """Give this command and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def root() -> Command:
    """Give the tree of all commands."""
    return Command(cli, click.Context(cli, info_name="aifix", terminal_width=WIDTH, color=False))


def pages(top: Command) -> Iterator[Page]:
    """Give a page for the pipe, and one for each command with its subcommands."""
    rows = [f"| [`{child.name}`{KEPT}]({_file(child)}) | {markdown.spans(child.command.get_short_help_str(200))} |" for child in top.children]
    listing = "\n".join(["| command | what it does |", "|---|---|", *rows])
    yield Page(INDEX, "The pipe, and all commands", f"# Commands\n\n{_described(top)}\n\n## All commands\n\n{listing}")
    for child in top.children:
        parts = [f"# {markdown.inline(child.name)}", _described(child)]
        parts += [part for one in list(child.walk())[1:] for part in (f"## {markdown.inline(one.name)}", _described(one))]
        yield Page(f"commands/{_file(child)}", child.name, "\n\n".join(parts), child.command.get_short_help_str(200))


def _file(child: Command) -> str:
    return child.name.rpartition(" ")[2] + ".md"


def _described(one: Command) -> str:
    usage = " ".join(one.command.collect_usage_pieces(one.context))
    parts = [markdown.block(f"{one.name} {usage}"), *_help(one.command.help or "")]
    rows = [_row(option) for option in one.options()]
    if rows:
        parts.append("\n".join(["| option | value | default | meaning |", "|---|---|---|---|", *rows]))
    return "\n\n".join(parts)


def _help(text: str) -> Iterator[str]:
    r"""Give the paragraphs of a help text; those behind `\b` are kept as they are."""
    for paragraph in text.strip().replace("\r", "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            lines = paragraph.removeprefix("\b\n").split("\n")
            indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
            yield markdown.block("\n".join(line[indent:] for line in lines))
        else:
            yield markdown.spans(paragraph)


def _row(option: click.Option) -> str:
    names = ", ".join(markdown.code(name) + KEPT for name in [*option.opts, *option.secondary_opts])
    value = ""
    if not option.is_flag and not option.count:
        value = option.metavar or (" or ".join(option.type.choices) if isinstance(option.type, click.Choice) else option.type.name)
    default = option.default
    shown = markdown.code(str(default)) if isinstance(default, (str, int, float)) and not isinstance(default, bool) and default != "" else ""
    several = " May be given several times." if option.multiple else ""
    return f"| {names} | {markdown.inline(value)} | {shown} | {markdown.spans((option.help or '') + several)} |"
