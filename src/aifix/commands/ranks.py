"""`aifix ranks`: the logs of many ranks read together."""

from __future__ import annotations

import click

from aifix.commands import options
from aifix.commands.report import note, print_verdict, rule_base

HELP = """Read the logs of a job's ranks together: who failed first and why, who is silent or slow.

\b
    aifix ranks logs/                  torchrun's --log-dir, one file a rank,
                                       Slurm's %t, Kubernetes pods
    aifix ranks slurm-4711.out         one file in which all ranks write
    aifix ranks logs/ launcher.log     and what the launcher said

Exit status: 1 when a failure was seen, 0 when none was, 2 for a path that cannot be read.
"""


@click.command(help=HELP)
@click.argument("paths", nargs=-1, required=True, metavar="DIR|FILE...")
@click.option("--attempt", type=click.IntRange(min=0), metavar="N", default=None, help="Which start of a restarted job; the last one by default.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), metavar="N", default=None, help="Processes that read; as many as processors by default.")
@options.form("How to print the report.")
@click.option("--verbose", "-v", is_flag=True, help="Print a line for every rank, every line of proof and every fix.")
@options.EXIT_ZERO
@options.COLOUR
@click.pass_context
def ranks(
    context: click.Context,
    /,
    paths: tuple[str, ...],
    *,
    attempt: int | None,
    jobs: int | None,
    form: str,
    verbose: bool,
    exit_zero: bool,
    colour: bool | None,
) -> None:
    """Read the logs of a job's ranks together."""
    from aifix.ranklogs import ranks as read

    base = rule_base()
    try:
        report = read(paths, base=base, attempt=attempt, jobs=jobs)
    except FileNotFoundError as error:
        note(f"{error.filename} does not exist")
        context.exit(2)
    except OSError as error:
        note(f"{error.filename or paths[0]} cannot be read: {error.strerror or error}")
        context.exit(2)
    except ValueError as error:
        note(str(error))
        context.exit(2)
    from aifix.show.ranks import render

    print_verdict(report, render if form == "text" else None, verbose=verbose, colour=colour)
    context.exit(1 if report.failed and not exit_zero else 0)
