"""`aifix tui`: the terminal interface, from a path, from the pipe, or in the browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aifix.commands.report import note

if TYPE_CHECKING:
    from aifix.probes.probing import Probing
    from aifix_tui.past import Past

READ = 256 << 10
"""Bytes of one read."""
INSTALL = "pip install 'aifix-kb[tui]'"


@click.command()
@click.argument("log", required=False, type=click.Path(path_type=Path))
@click.option("--serve", is_flag=True, help="Serve it to a browser on this machine instead.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True, help="The port to serve on.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="The address to serve on; another one needs --token.")
@click.option(
    "--token", envvar="AIFIX_TOKEN", default="", metavar="TEXT", help="What a browser must show; made by itself on 127.0.0.1. Or AIFIX_TOKEN."
)
@click.pass_context
def tui(context: click.Context, /, log: Path | None, *, serve: bool, port: int, host: str, token: str) -> None:
    """Open a log in the terminal interface; without LOG, ask for one or for the wizard.

    With --serve it opens in a browser of this machine. Who can reach it can open files and run commands as you, so another --host is
    refused without a --token of 16 characters or more, and is meant for networks that you trust.
    """
    if not available():
        note(f"the interface needs textual: {INSTALL}")
        context.exit(2)
    if log is not None and not log.is_file():
        why = "is a directory" if log.is_dir() else "is no regular file; pipe it in, as … | aifix --tui" if log.exists() else "does not exist"
        note(f"{log} {why}")
        context.exit(2)
    if serve:
        context.exit(_serve(log, port, host, token))
    if not on_terminal():
        note("the interface needs a terminal; aifix diagnose LOG prints the diagnosis")
        context.exit(2)
    context.exit(_run(log))


def available() -> bool:
    """Whether the interface and what it needs are installed."""
    from importlib.util import find_spec

    return find_spec("textual") is not None and find_spec("aifix_tui") is not None


def on_terminal() -> bool:
    """Whether a person sits in front of both ends; textual-serve names a driver of its own instead."""
    return "TEXTUAL_DRIVER" in os.environ or all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def from_pipe() -> int:
    """Pass the input through to its end as the pipe does, then open it on the terminal.

    Returns:
        The exit status: 1 when a failure was seen, 2 when there is no terminal, else 0.

    """
    if not available():
        note(f"--tui needs textual: {INSTALL}")
        return 2
    import signal
    import tempfile

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the producer, whose last words we are here for
    with tempfile.TemporaryDirectory(prefix="aifix-") as folder:
        log = Path(folder, "pipe.log")
        probing, past = _keep(log)
        signal.signal(signal.SIGINT, before)
        try:
            _take_terminal()
        except OSError:
            note("--tui needs a terminal to open on; without it the pipe prints the diagnosis")
            return 2
        return _run(log, "the pipe", probing, past)


def _keep(log: Path) -> tuple[Probing, Past]:
    """Copy standard input to standard output and to a file, and look at who writes it."""
    from aifix.pipe import Watch

    watch = Watch()
    passing = True
    with log.open("wb") as stream:
        while data := os.read(0, READ):
            stream.write(data)
            while passing and data:
                try:
                    data = data[os.write(1, data) :]
                except OSError:  # a closed output ends the copying, not the reading
                    passing = False
            watch.see()
    watch.end()
    from aifix.commands.remember import run_of_pipe
    from aifix.probes.probing import Probing
    from aifix_tui.past import Past

    run = run_of_pipe({}, watch)
    return Probing(producers=watch.producers, piped=True), Past(run, folder=run.folder, wanted=run.local)


def _take_terminal() -> None:
    """Put the terminal in the place of the pipe's ends; Textual reads descriptor 0 and writes descriptor 2."""
    terminal = os.open("CONIN$" if os.name == "nt" else "/dev/tty", os.O_RDWR)
    os.dup2(terminal, 0)
    for descriptor in (1, 2):
        if not os.isatty(descriptor):
            os.dup2(terminal, descriptor)
    os.close(terminal)


def _run(log: Path | None = None, name: str = "", probing: Probing | None = None, past: Past | None = None) -> int:
    import aifix_tui

    return aifix_tui.run(log, name=name, probing=probing, past=past)


def _serve(log: Path | None, port: int, host: str, token: str) -> int:
    from importlib.util import find_spec

    if find_spec("textual_serve") is None:
        note("--serve needs textual-serve: pip install 'aifix-kb[serve]'")
        return 2
    from importlib import import_module

    status: int = import_module("aifix_tui.serve").serve(log, port, host, token)
    return status
