"""Print a report in the form that was asked for, and give the exit status."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from msgspec import Struct

    from aifix.match.keeper import Keeper
    from aifix.model import Diagnosis, Report, Unknown
    from aifix.pipe import Watch
    from aifix.rulebase.base import Base


def report_blocks(keeper: Keeper, options: dict[str, object], watch: Watch | None = None) -> int:
    """Diagnose what the pipe kept, let this machine answer (`watch` knows who wrote into the pipe; None: it is not asked), and print."""
    from aifix import room

    room.need(room.NEEDED)
    import msgspec

    from aifix import api
    from aifix.commands import remember
    from aifix.show.commands import LAST

    base = rule_base()
    probing = None
    if watch is not None and options.get("probe"):
        from aifix.probes.probing import Probing

        probing = Probing(python=str(options.get("python") or ""), producers=watch.producers, piped=True)
    memory = remember.of_pipe(options, watch)
    blocks = keeper.blocks()
    report = api.diagnose_blocks(blocks, base=base, probe=probing, memory=memory)
    log = ""
    if options.get("format", "text") == "text":
        log = _kept_in() or (LAST if memory is not None and watch is not None and remember.keeps(report, options, watch) else "")
    shown = msgspec.structs.replace(report, source=log) if log else report
    status = emit(shown, options, lines=keeper.lines(), to_error=True)
    if memory is not None and watch is not None:
        remember.pipe(report, memory, options, watch, blocks)
    return status


def _kept_in() -> str:
    """Name the file into which standard output goes, where it is one: the log that the commands of the report are about. Linux only."""
    import os
    import stat

    try:  # without pathlib, which the failing pipe would pay for
        if not stat.S_ISREG(os.fstat(1).st_mode):
            return ""
        path = os.readlink("/proc/self/fd/1")  # noqa: PTH115
        here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118
    except OSError:
        return ""
    if not os.path.isfile(path):  # noqa: PTH113 - removed since
        return ""
    return path.removeprefix(here)


def rule_base() -> Base:
    """Give the rule base; what is to be said of the user's rules is said, a line each, on standard error."""
    from aifix import api

    base = api.rule_base()
    for message in base.messages:
        note(message)
    return base


def unknown_name(what: str, name: str, known: Iterable[str], listing: str) -> None:
    """Say that there is nothing of a name, and which names are near; else which command lists them.

    Args:
        what: the kind of thing.
        name: what was asked for.
        known: the names that there are.
        listing: what lists them, as `aifix rules list` names all.

    """
    import difflib

    near = difflib.get_close_matches(name, list(known), 3)
    note(f"there is no {what} {name}; " + (f"near: {', '.join(near)}" if near else listing))


def note(message: str) -> None:
    """Write one line to standard error, whatever stands in it; a closed one is no reason to fail."""
    if not message.isprintable():  # the name of a file may hold escapes
        from aifix.show.safe import sanitise

        message = sanitise(message.replace("\n", " "))
    try:
        sys.stderr.write(f"aifix: {message}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        close_quietly(2)


def refuse_packed(head: bytes) -> bool:
    """Say that the input is compressed, where its first bytes tell so; false where they are those of a text."""
    from aifix.intake import packed

    kind = packed.form(head)
    if kind:
        note(f"the input is compressed with {kind}, so nothing in it was read: {packed.TOOLS[kind]} FILE | aifix, or: aifix diagnose FILE")
    return bool(kind)


def print_empty(options: dict[str, object]) -> None:
    """Print the report of a run in which nothing failed."""
    from aifix.model import Report

    emit(Report(source="-", failed=False), options)


def emit(report: Report, options: dict[str, object], *, lines: int | None = None, to_error: bool = False) -> int:
    """Print a report.

    Args:
        report: what was found.
        options: format, quiet, exit_zero, colour, verbose; more: the command that says more, where it is not `why`.
        lines: how many lines the input had, where known.
        to_error: print text to standard error (the pipe) instead of standard output.

    Returns:
        1 when a failure was seen and `exit_zero` is off, else 0.

    """
    form = options.get("format", "text")
    status = 1 if report.failed and not options.get("exit_zero") else 0
    if form == "json":
        from aifix.show import json as shown

        _write_bytes(shown.dump(report))
    elif form == "sarif":
        from aifix.show import sarif

        _write_bytes(sarif.dump(report))
    elif form == "github":
        from aifix.show import github

        _write_text(github.annotate(report), error=False)
    elif not (options.get("quiet") and not report.failed):
        from aifix.show.stream import display_of
        from aifix.show.terminal import render

        colour = options.get("colour")
        stream = sys.stderr if to_error else sys.stdout
        if stream is None:
            return status
        display = display_of(stream, colour=colour if isinstance(colour, bool) else None)
        text = render(
            report,
            width=display.width,
            colour=display.colour,
            verbose=bool(options.get("verbose")),
            encoding=display.encoding,
            lines=lines,
            articles=articles,
            more=str(options.get("more") or ""),
        )
        _write_text(text, error=to_error)
    return status


def emit_all(reports: Sequence[Report], form: object) -> None:
    """Print the reports on several files as one document: an array of JSON objects, or one SARIF log with a run for each."""
    if form == "sarif":
        from aifix.show import sarif

        _write_bytes(sarif.dump(*reports))
        return
    from aifix.show import json as shown

    _write_bytes(b"[\n" + b",\n".join(shown.dump(report).rstrip(b"\n") for report in reports) + b"\n]\n")


def print_verdict(found: Struct, render: Callable[..., str] | None, *, verbose: bool, colour: bool | None) -> None:
    """Print what a command found that is no report of one log.

    Args:
        found: the verdict.
        render: lays it out as text; None prints it as JSON.
        verbose: nothing is left out.
        colour: whether to use colours; None asks the terminal.

    """
    import click

    if render is None:
        from aifix.show import json as shown

        click.echo(shown.dump(found), nl=False)
        return
    from aifix.show.stream import display_of

    display = display_of(sys.stdout, colour=colour)
    text = render(found, width=display.width, colour=display.colour, verbose=verbose, encoding=display.encoding)
    click.echo(text, nl=False, color=display.colour)


def articles(what: Diagnosis | Unknown) -> Sequence[tuple[str, str]]:
    """Give the articles about a diagnosis, or near to an unknown failure; imported when a report first asks."""
    from aifix.kb import nearby

    return nearby.about(what)


def _write_bytes(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data if data.endswith(b"\n") else data + b"\n")
        sys.stdout.buffer.flush()
    except (OSError, ValueError, AttributeError):
        close_quietly(1)


def _write_text(text: str, *, error: bool) -> None:
    stream = sys.stderr if error else sys.stdout
    if text and not text.endswith("\n"):
        text += "\n"
    try:
        stream.flush()
        encoding = stream.encoding or "utf-8"
        stream.buffer.write(text.encode(encoding, "replace"))
        stream.flush()
    except (OSError, ValueError, AttributeError):
        close_quietly(2 if error else 1)


def close_quietly(descriptor: int) -> None:
    """Keep the interpreter from ending with 120 because a stream that takes no more cannot be flushed at its exit."""
    import os

    try:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, descriptor)
    except OSError:
        pass
