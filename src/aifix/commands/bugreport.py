"""`aifix report`: a bug report to paste into an issue."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from aifix.commands.history import opened
from aifix.commands.report import note

if TYPE_CHECKING:
    from pathlib import Path

    from aifix.bugreport import Bug


@click.command()
@click.argument("log", required=False, default="")
@click.option("--output", "-o", metavar="FILE", default="", help="Write the Markdown to FILE, after it was shown.")
@click.option("--zip", "archive", metavar="FILE", default="", help="Write a zip: the Markdown, the report as JSON, the lines, the packages.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@click.option("--active", is_flag=True, help="Let the run's interpreter import torch and run torch.utils.collect_env.")
@click.option("--python", metavar="PATH", default="", help="The interpreter of the failed run; found by itself.")
@click.option("--kb", metavar="FILE", default="", help="The file of the history, for a report without LOG.")
@click.option("--number", "-n", type=int, default=None, help="The failure of the history, for a report without LOG; the last one by default.")
@click.pass_context
def report(
    context: click.Context, /, log: str, *, output: str, archive: str, yes: bool, active: bool, python: str, kb: str, number: int | None
) -> None:
    """Make a bug report to paste into an issue, without secrets and names.

    It is about LOG ('-' is standard input), or without LOG about the last failure in the history. It holds what failed, the lines that show
    it, the machine's answers, the environment and the packages; secrets, home folders, user and host names are taken out. It is shown
    first: read it before you send it. Nothing is sent, and torch is not imported without --active.
    """
    piped = b""
    if log == "-" or (not log and number is None and sys.stdin is not None and not sys.stdin.isatty()):
        piped = sys.stdin.buffer.read()
        log = log or ("-" if piped.strip() else "")  # a script's empty input is no log
    bug = _of_log(log, piped, python=python, active=active) if log else _of_history(context, kb, number)
    if bug is None:
        context.exit(2)
    from aifix.bugreport import render

    text = render(bug)
    click.echo(text, nl=False)
    targets = [name for name in (output, archive) if name]
    if not targets:
        return
    if not yes and not _agreed(targets, log):
        note("nothing was written; --yes writes without asking")
        context.exit(2)
    from pathlib import Path

    for name in targets:
        if not _write(Path(name), text.encode() if name == output else _pack(bug, text)):
            context.exit(2)


def _of_log(log: str, piped: bytes, *, python: str, active: bool) -> Bug | None:
    from aifix import api
    from aifix.bugreport import collect
    from aifix.intake import document as intake
    from aifix.intake import packed
    from aifix.probes import target as targets

    try:
        document = intake.read([(1, packed.unpacked(piped))]) if log == "-" else api.read_file(log)
    except OSError as error:
        note(f"{log} cannot be read: {error.strerror or error}")
        return None
    found = api.diagnose_document(document)
    if not found.failed:
        note(f"nothing failed in {'the input' if log == '-' else log}; the report says what there is")
    files = [frame.file for traceback in document.tracebacks for frame in traceback.frames]
    target = targets.find(python=python, files=files, local=False)
    return collect(document, found, target, active=active)


def _of_history(context: click.Context, kb: str, number: int | None) -> Bug | None:

    from aifix import kb as base
    from aifix.bugreport import remembered

    with opened(context, kb) as store:
        number = number if number is not None else next((one.number for one in base.recent(store, 1)), 0)
        incident = base.get(store, number)
    if incident is None:
        note(f"there is no failure {number} in the history" if number else "name a log: the history is empty")
        return None
    return remembered(incident)


def _agreed(targets: list[str], log: str) -> bool:
    if log == "-" or not sys.stdin.isatty():
        return False
    return click.confirm(f"Write it to {' and '.join(targets)}?", default=False, err=True)


def _pack(bug: Bug, text: str) -> bytes:
    from aifix.bugreport import archive

    return archive.pack(bug, text)


def _write(path: Path, data: bytes) -> Any:
    try:
        path.write_bytes(data)
    except OSError as error:
        note(f"{path} cannot be written: {error.strerror or error}")
        return False
    note(f"{path} was written")
    return True
