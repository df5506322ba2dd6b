"""What the printing commands do with the history: look into it before a report, write to it after one, say that a failure went away."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from aifix.commands.report import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.kb.kept import Kept
    from aifix.kb.memory import Memory
    from aifix.kb.nouns import Incident
    from aifix.kb.record import Run
    from aifix.model import Report
    from aifix.pipe import Watch
    from aifix.supervise.plan import Failure, Outcome

AT_ONCE = 0.25
"""Seconds within which a whole input came at once; a run that fails takes longer from the start of its interpreter."""
INTERRUPTED = "host.interrupted"
"""Who ends a run by Ctrl-C has met no failure."""


def memory_of(options: dict[str, object], *, folder: str = "", again: bool = False) -> Memory | None:
    """Give the history that a command looks into; None where it is switched off."""
    if not options.get("history", True) or os.environ.get("AIFIX_NO_HISTORY"):
        return None
    from aifix.kb import memory

    return memory.Memory(str(options.get("kb") or ""), folder=folder, again=again, say=note)


def given_input() -> bytes:
    """Give what stands in the pipe for a command to which no log was named; nothing where there is no pipe."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    data = sys.stdin.buffer.read()
    return data if data.strip() else b""


def kept_output(memory: Memory | None) -> Kept | None:
    """Give the output of the last failure, and say which it is; None where none is kept."""
    if memory is None:
        return None
    from aifix.kb import kept as outputs

    found = outputs.last(memory.path)
    if found is not None:
        from aifix.kb.recall import day
        from aifix.show.safe import sanitise

        note(sanitise(f"failure {found.number}, {day(found.at)}" + (f": {found.command}" if found.command else "")))
    return found


# ---------------------------------------------------------------- the pipe


def of_pipe(options: dict[str, object], watch: Watch | None) -> Memory | None:
    """Give the history that a failed pipe looks into."""
    if watch is None:
        return None
    from aifix.kb import pending

    return memory_of(options, folder=pending.command_of(watch.producers)[1], again=_reads(watch))


def keeps(report: Report, options: dict[str, object], watch: Watch) -> bool:
    """Tell whether the failure of a pipe is one to remember: that of a run, not of what was written at another time."""
    return report.failed and _is_wanted(report) and bool(options.get("remember") or not _reads(watch))


def pipe(report: Report, memory: Memory, options: dict[str, object], watch: Watch, blocks: Sequence[tuple[int, bytes]] = ()) -> None:
    """Write the incident of a failed pipe, and keep its output; or note that the command, which failed before, has ended well."""
    if not report.failed:
        pipe_ended_well(options, watch)
    elif keeps(report, options, watch):
        memory.remember(report, _run(options, watch, memory.folder), blocks)
    else:
        memory.tell()


def file(report: Report, memory: Memory, *, wanted: bool, python: str = "") -> None:
    """Write the incident of a log that lies in a file, where that is wanted."""
    if not (wanted and report.failed and _is_wanted(report)):
        memory.tell()
        return
    from aifix.kb import record

    made = memory.remember(report, record.Run(how="diagnose", folder=memory.folder, python=python, local=False))
    if made is not None:
        note(f"remembered as failure {made.number}")


def pipe_ended_well(options: dict[str, object], watch: Watch) -> None:
    """Note that a command, which may have failed before, has ended well in the pipe."""
    memory = memory_of(options)
    if memory is not None:
        tell_ended(memory.ended_well(_run(options, watch, memory.folder)), options)


def run_of_pipe(options: dict[str, object], watch: Watch) -> Run:
    """Give the run that a pipe's input is of, as far as who wrote it could be seen; `local` is false where it came out of a file."""
    return _run(options, watch, _here())


def _run(options: dict[str, object], watch: Watch, working: str) -> Run:
    from aifix.kb import pending, record

    reads = _reads(watch)
    arguments, folder = pending.command_of(watch.producers)
    return record.Run(
        how="pipe",
        arguments=() if reads else arguments,
        folder=folder or working,
        seconds=0.0 if reads else watch.seconds,
        producers=watch.producers,
        python=str(options.get("python") or ""),
        local=not reads,
    )


def _reads(watch: Watch) -> bool:
    """Tell whether the pipe is fed with what was written at another time: `cat old.log | aifix` is like a file.

    Who fed it may be gone before it can be seen: what came whole at once then came out of a file.
    """
    from aifix.probes.target import READERS

    if not watch.producers:
        return watch.seconds < AT_ONCE
    return all(os.path.basename(one.exe) in READERS for one in watch.producers)  # noqa: PTH119


# ---------------------------------------------------------------- aifix run


class Supervised:
    """Remembers what happens to a supervised command."""

    def __init__(self, command: Sequence[str], options: dict[str, object]) -> None:
        self._command = tuple(command)
        self._options = options
        self._folder = _here()
        self.memory = memory_of(options, folder=self._folder)

    def failed(self, failure: Failure) -> None:
        """Write the incident of one attempt."""
        if self.memory is not None and _is_wanted(failure.report):
            run = self._run(failure.attempt, failure.status, failure.seconds, failure.producers)
            self.memory.remember(failure.report, run, failure.blocks)

    def keeps(self, outcome: Outcome) -> bool:
        """Tell whether the failure of the last attempt will be remembered, with its output."""
        if self.memory is None or not outcome.status or outcome.interrupted or not outcome.failures:
            return False
        return _is_wanted(outcome.failures[-1].report) and any(data for _, data in outcome.failures[-1].blocks)

    def ended(self, outcome: Outcome) -> None:
        """Write how it all ended."""
        if self.memory is None:
            return
        if outcome.status and outcome.failures and not outcome.interrupted:
            self.failed(outcome.failures[-1])
        elif not outcome.status:
            tell_ended(self.memory.ended_well(self._run(outcome.attempts, 0, outcome.seconds, outcome.producers)), self._options)
        self.memory.tell()

    def _run(self, attempt: int, status: int, seconds: float, producers: Sequence[object]) -> Run:
        from aifix.kb import record

        return record.Run(
            how="run",
            arguments=self._command,
            folder=self._folder,
            status=status,
            seconds=seconds,
            attempt=attempt,
            producers=producers,  # type: ignore[arg-type]  # of the supervisor's own kind
            python=str(self._options.get("python") or ""),
        )


def _here() -> str:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""


def _is_wanted(report: Report) -> bool:
    return not (report.diagnoses and report.diagnoses[0].id == INTERRUPTED)


# ---------------------------------------------------------------- words


def tell_ended(found: list[Incident], options: dict[str, object]) -> None:
    """Say that a failure went away and what changed, and how to say which fix it was; not where words are unwelcome."""
    if not found or options.get("quiet") or options.get("format", "text") != "text":
        return
    from aifix.kb.recall import day
    from aifix.show.safe import sanitise

    last = found[0]
    what = last.diagnosis if last.diagnosis != "unknown" else last.title[:60]
    since = f"; changed since: {', '.join(last.ended)}" if last.ended else "; nothing that aifix watches has changed since"
    note(sanitise(f"the failure of {day(last.at).removeprefix('on ').removeprefix('today at ')} ({what}) is gone{since}"))
    from aifix.kb.patched import applied_since

    patch = applied_since(last)
    if patch:
        note(f"was it the patch? Say so with: aifix resolved {last.number} --fix {sanitise(patch)} --worked")
    elif last.fixes:
        note(f"which fix was it? Say so with: aifix resolved {last.number}")
