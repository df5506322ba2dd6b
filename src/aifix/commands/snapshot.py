"""`aifix snapshot`: what a CUDA memory snapshot shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from aifix.commands import options
from aifix.commands.report import note, print_verdict

if TYPE_CHECKING:
    from aifix.memory_snapshot.verdict import Snapshot


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--html", metavar="PAGE", help="Write a page for the browser too: the timeline, and a flame graph of the peak.")
@options.form("How to print the verdict.")
@click.option("--verbose", "-v", is_flag=True, help="Show more stacks, and every fix.")
@click.option("--exit-zero", is_flag=True, help="End with 0 even when memory leaks or ran out.")
@options.COLOUR
@click.pass_context
def snapshot(context: click.Context, /, file: str, html: str | None, form: str, *, verbose: bool, exit_zero: bool, colour: bool | None) -> None:
    """Read a CUDA memory snapshot: what stood at the peak and whose it was, what leaks, fragmentation.

    FILE is what torch.cuda.memory._dump_snapshot("memory.pickle") wrote. Only plain data is taken out of it. Exit status: 1 when memory ran out or
    leaks, else 0.
    """
    from aifix import memory_snapshot
    from aifix.memory_snapshot.read import SnapshotError
    from aifix.unpickle import UnpickleError

    try:
        found = memory_snapshot.snapshot(file)
    except IsADirectoryError:
        note(f"{file} is a directory; name the snapshot in it")
        context.exit(2)
    except (SnapshotError, UnpickleError) as error:
        note(f"{file}: {error}")
        context.exit(2)
    except OSError as error:
        note(f"{file} cannot be read: {error.strerror or error}")
        context.exit(2)
    if html is not None and not _write(found, html):
        context.exit(2)
    from aifix.show.snapshot import render

    print_verdict(found, render if form == "text" else None, verbose=verbose, colour=colour)
    context.exit(1 if found.failed and not exit_zero else 0)


def _write(found: Snapshot, html: str) -> bool:
    from pathlib import Path

    from aifix.show.snapshot_page import PlotlyMissingError, render

    try:
        Path(html).write_text(render(found), encoding="utf-8")
    except PlotlyMissingError as error:
        note(str(error))
        return False
    except OSError as error:
        note(f"{html} cannot be written: {error.strerror or error}")
        return False
    note(f"wrote {html}")
    return True
