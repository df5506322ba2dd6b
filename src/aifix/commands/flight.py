"""`aifix flight`: what the ranks of a hung job were doing."""

from __future__ import annotations

from pathlib import Path

import click

from aifix.commands import options
from aifix.commands.report import note, print_verdict


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="DIR|FILES...", type=click.Path(path_type=Path))
@click.option("--prefix", metavar="TEXT", help="What stands before the rank in the files' names; found by itself.")
@options.form("How to print the verdict.")
@click.option("--verbose", "-v", is_flag=True, help="Show every rank, finding and fix.")
@click.option("--exit-zero", is_flag=True, help="End with 0 even when the ranks disagree.")
@options.COLOUR
@click.pass_context
def flight(
    context: click.Context, /, paths: tuple[Path, ...], prefix: str | None, form: str, *, verbose: bool, exit_zero: bool, colour: bool | None
) -> None:
    """Read PyTorch flight-recorder dumps: in which collective the ranks disagree, who is behind.

    DIR holds one file a rank, of NCCL or gloo, named PREFIX and the rank.
    torch writes them on a timeout, with TORCH_NCCL_TRACE_BUFFER_SIZE=20000 (or TORCH_FR_BUFFER_SIZE) and TORCH_NCCL_DUMP_ON_TIMEOUT=1, to
    TORCH_NCCL_DEBUG_INFO_TEMP_FILE plus the rank. Exit status: 1 when something is wrong, else 0.
    """
    from aifix import flight_recorder
    from aifix.flight_recorder.load import NoDumpsError

    try:
        found = flight_recorder.flight(*paths, prefix=prefix)
    except NoDumpsError as error:
        note(f"{', '.join(map(str, paths))}: {error}")
        context.exit(2)
    except OSError as error:
        note(f"{error.filename or paths[0]} cannot be read: {error.strerror or error}")
        context.exit(2)
    from aifix.show.flight import render

    print_verdict(found, render if form == "text" else None, verbose=verbose, colour=colour)
    context.exit(1 if found.failed and not exit_zero else 0)
