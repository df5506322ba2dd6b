"""The command line. Each command is a thin function over the library."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

import click

from aifix import __version__
from aifix.commands import options
from aifix.commands.group import Sentences
from aifix.commands.remember import file as remember_file
from aifix.commands.remember import given_input, kept_output, memory_of
from aifix.commands.report import articles, emit, emit_all, note, rule_base

HELP = """Pipe a run into aifix and read what killed it:

\b
    python train.py 2>&1 | aifix
    aifix diagnose train.log

The input is copied to standard output untouched; the diagnosis goes to standard error.
Exit status: 1 when a failure was seen, 0 when none was, 2 for bad usage or an unreadable file.
"""


class Lazy(Sentences):
    """A group whose bigger commands are imported only when they are called; their lines in the help stand here."""

    lazy: ClassVar[dict[str, tuple[str, str]]] = {
        "history": ("aifix.commands.history:history", "List the last failures; show, search, count, export, import or remove them."),
        "report": (
            "aifix.commands.bugreport:report",
            "Make a bug report to paste into an issue, without secrets and names.",
        ),
        "resolved": (
            "aifix.commands.resolved:resolved",
            "Say which fix ended a failure, or did not: the order of fixes learns from it.",
        ),
        "run": ("aifix.commands.run:run", "Run a command as it is, and say at its end what killed it."),
        "rerun": ("aifix.commands.rerun:rerun", "Run a failed command again with instruments, and name the line to blame."),
        "watch": ("aifix.commands.watch:watch", "Run a training as it is, and say while it runs what goes wrong with it."),
        "lab": ("aifix.commands.lab:lab", "Run specimens: programs that really fail, and their fixes."),
        "kb": ("aifix.commands.kb:kb", "Search and read the handbook: articles, and a page for every rule."),
        "snapshot": (
            "aifix.commands.snapshot:snapshot",
            "Read a CUDA memory snapshot: what stood at the peak and whose it was, what leaks, fragmentation.",
        ),
        "flight": ("aifix.commands.flight:flight", "Read PyTorch flight-recorder dumps: in which collective the ranks disagree, who is behind."),
        "ranks": ("aifix.commands.ranks:ranks", "Read the logs of a job's ranks together: who failed first and why, who is silent or slow."),
        "rules": ("aifix.commands.rules:rules", "List, show, check and write rules."),
        "fix": ("aifix.commands.fix:fix", "Show fix N of a log as a patch of your code; apply it with --apply."),
        "probe": (
            "aifix.commands.probe:probe",
            "Check this machine, by probe (gpu.memory) or family (cuda, memory, health, dist, deps, data, host, numerics).",
        ),
        "tui": ("aifix.commands.tui:tui", "Open a log in the terminal interface; without LOG, ask for one or for the wizard."),
    }

    def list_commands(self, context: click.Context) -> list[str]:
        """Name all commands."""
        return sorted([*super().list_commands(context), *self.lazy])

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import a command when it is asked for."""
        if name not in self.lazy:
            return super().get_command(context, name)
        import importlib

        module, _, attribute = self.lazy[name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        return command if isinstance(command, click.Command) else None

    def meant(self, context: click.Context, arguments: list[str]) -> str:
        """Say what was most likely meant: another command, or what is done with a file, a folder or a program."""
        import shlex
        import shutil
        from pathlib import Path

        name = arguments[0]
        if Path(name).is_dir():
            return f"It is a folder: aifix ranks {shlex.quote(name)} reads the logs of a job's ranks in it."
        if Path(name).exists():
            return f"It is a file: aifix diagnose {shlex.quote(name)}"
        said = super().meant(context, arguments)
        return said or (f"To run it under aifix: aifix run -- {shlex.join(arguments)}" if shutil.which(name) else "")

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them: the rules' one alone would take twice as long as the whole help."""
        stubs = {name: click.Command(name, help=text) for name, (_, text) in self.lazy.items()}
        commands = {name: stubs.get(name) or super(Lazy, self).get_command(context, name) for name in self.list_commands(context)}
        self.write(formatter, ((name, command) for name, command in commands.items() if command is not None))


@click.group(cls=Lazy, help=HELP, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="aifix", message="%(prog)s %(version)s")
@options.report
@options.probing
@options.remembering
@click.option("--remember", is_flag=True, help="Remember the failure also where the pipe is fed from a file.")
@click.option("--tui", is_flag=True, help="Read the pipe to its end, then open it in the terminal interface.")
@click.pass_context
def cli(context: click.Context, /, *, tui: bool, **_options: Any) -> None:
    """Open the terminal interface when called on a terminal without input; show the help where that is not installed."""
    if context.invoked_subcommand is not None:
        return
    from aifix.commands import tui as interface

    if tui and not sys.stdin.isatty():
        context.exit(interface.from_pipe())
    if interface.on_terminal() and interface.available():
        context.invoke(interface.tui)
    click.echo(context.get_help())
    if not interface.available():
        click.echo(f"\nFor the terminal interface and the wizard: {interface.INSTALL}")


def _options(**given: Any) -> dict[str, object]:
    return {"format": given["form"], **{name: given[name] for name in ("quiet", "verbose", "exit_zero", "colour")}}


def _probing(file: str, *, probe: bool | None, python: str) -> Any:
    """Say how to look at this machine; None when it is not to be looked at. A file may come from anywhere."""
    import os

    if not probe or os.environ.get("AIFIX_NO_PROBE"):
        return None
    from aifix.probes.probing import Probing

    return Probing(python=python, local=file == "-", piped=file == "-")


def _report(file: str, base: Any, probe: Any = None, memory: Any = None) -> Any:
    """Diagnose one file ('-' is standard input); a file that cannot be read ends with 2 and one line."""
    from aifix import api
    from aifix.intake import packed

    try:
        if file == "-":
            return api.diagnose_blocks([(1, packed.unpacked(sys.stdin.buffer.read()))], base=base, probe=probe, memory=memory)
        return api.diagnose_file(file, base=base, probe=probe, memory=memory)
    except IsADirectoryError:
        note(f"{file} is a directory; name the log files in it, as {file.rstrip('/')}/*.log")
    except PermissionError:
        note(f"{file} cannot be read: permission denied")
    except FileNotFoundError:
        note(f"{file} does not exist")
    except OSError as error:
        note(f"{file} cannot be read: {error.strerror or error}")
    return None


def _unnamed(probe: Any, memory: Any) -> Any:
    """Diagnose what stands in the pipe, else what is kept of the last failure."""
    from aifix import api
    from aifix.intake import packed

    piped = given_input()
    if piped:
        try:
            return api.diagnose_blocks([(1, packed.unpacked(piped))], base=rule_base(), probe=probe, memory=memory)
        except OSError as error:
            note(f"the input cannot be read: {error}")
            return None
    kept = kept_output(memory)
    if kept is None:
        note("no failure is remembered: name the log, as `aifix why train.log`, or pipe it in")
        return None
    return api.diagnose_blocks(kept.blocks, base=rule_base(), probe=probe, memory=memory)


def _is_empty(file: str) -> bool:
    from pathlib import Path

    path = Path(file)
    return path.is_file() and not path.stat().st_size


@cli.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@options.report
@options.probing
@options.remembering
@click.option("--remember", is_flag=True, help="Remember the failures of these logs (a file may come from anywhere, so this is not the default).")
@click.pass_context
def diagnose(
    context: click.Context, /, files: tuple[str, ...], *, probe: bool | None, python: str, history: bool, kb: str, remember: bool, **given: Any
) -> None:
    """Diagnose log files, also compressed ones ('-' reads standard input).

    Of several files --format json prints an array of reports, and --format sarif one log with a run for each.
    """
    base = rule_base()
    memory = memory_of({"history": history, "kb": kb}, again=True)
    status = 0
    whole: list[Any] | None = [] if len(files) > 1 and given["form"] in {"json", "sarif"} else None
    for file in files:
        report = _report(file, base, _probing(file, probe=probe, python=python), memory)
        if report is None:
            status = 2
            continue
        if len(files) > 1 and report.failed and given["form"] == "text":
            from aifix.show.safe import sanitise

            click.echo(f"\n== {sanitise(file)}")
        if not report.failed and given["form"] == "text" and _is_empty(file):
            if not given["quiet"]:
                click.echo(f"aifix: {file} is empty: nothing was written into it")
            continue
        if whole is None:
            done = emit(report, _options(**given))
        else:
            whole.append(report)
            done = int(report.failed and not given["exit_zero"])
        if memory is not None:
            remember_file(report, memory, wanted=remember, python=python)
        status = max(status, done)
    if whole is not None:
        emit_all(whole, given["form"])
    context.exit(status)


@cli.command()
@click.argument("message", nargs=-1, required=True)
@options.report
@options.remembering
@click.pass_context
def explain(context: click.Context, /, message: tuple[str, ...], *, history: bool, kb: str, **given: Any) -> None:
    """Explain one error message, given as an argument."""
    from aifix import api

    memory = memory_of({"history": history, "kb": kb}, again=True)
    text = " ".join(message)
    report = api.diagnose_text(text, genre="log", base=rule_base(), memory=memory)
    if memory is not None:
        memory.tell()
    if not report.failed and given["form"] == "text":
        if not given["quiet"]:
            note("this reads like no error; `aifix kb search WORDS` searches the handbook")
        context.exit(0)
    context.exit(emit(report, {**_options(**given), "more": f"aifix kb show {report.diagnoses[0].id}" if report.diagnoses else ""}))


@cli.command()
@click.argument("file", default="")
@options.COLOUR
@options.probing
@options.remembering
@click.pass_context
def why(context: click.Context, /, file: str, *, colour: bool | None, probe: bool | None, python: str, history: bool, kb: str) -> None:
    """Show how the diagnosis of a log came about: rule, signature, lines, facts, conditions, confidence.

    Without FILE it is about standard input, or else about the last failure that the history remembers.
    """
    from aifix.show.stream import display_of
    from aifix.show.why import render_why

    memory = memory_of({"history": history, "kb": kb}, again=True)
    if file:
        report = _report(file, rule_base(), _probing(file, probe=probe, python=python), memory)
    else:
        report = _unnamed(_probing("-", probe=probe, python=python), memory)
    if memory is not None:
        memory.tell()
    if report is None:
        context.exit(2)
    display = display_of(sys.stdout, colour=colour)
    shown = render_why(report, width=display.width, colour=display.colour, encoding=display.encoding, articles=articles)
    click.echo(shown, color=display.colour)
    context.exit(1 if report.failed else 0)


@cli.command()
@click.argument("what", type=click.Choice(["report", "rule"]), default="report")
def schema(what: str) -> None:
    """Print the JSON Schema of the report, or of a rule file."""
    if what == "report":
        from aifix.show import schema as shown

        click.echo(shown.text(), nl=False)
    else:
        import json

        from aifix.rulebase.source import schema as rule_schema

        click.echo(json.dumps(rule_schema(), indent=2))
