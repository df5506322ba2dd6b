"""What launchers and schedulers say of how ranks ended: torchrun's table, srun, mpirun, DeepSpeed, spawn, Lightning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.lazy import lazy_re
from aifix.ranklogs.nouns import Death

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aifix.model import Line
    from aifix.ranklogs.clock import Clock

_ENTRY = lazy_re(r"^\[\d+\]:$")
_FIELD = lazy_re(r"^\s+(time|host|rank|exitcode)\s*: (.*)$")
_RANK = lazy_re(r"(\d+)(?: \(local_rank: (\d+)\))?")
_STATUS = lazy_re(r"(-?\d+)(?: \(pid: (\d+)\))?")
_FORCED = lazy_re(r"Unable to shutdown process (\d+) via \S+, forcefully exiting via")
_CHILD = lazy_re(r"failed \(exitcode: (-?\d+)\) local_rank: (\d+) \(pid: (\d+)\)")
_SRUN = lazy_re(
    r"srun: error: (?P<node>\S+): tasks? (?P<tasks>[\d,-]+): (?:(?P<word>Killed|Terminated|Segmentation fault|Aborted|Bus error|Out Of Memory|"
    r"Floating point exception|Illegal instruction)|Exited with exit code (?P<code>\d+))"
)
_MPI = lazy_re(r"(?:process rank|rank) (?P<rank>\d+)(?: \([^)]*\))? with PID (?P<pid>\d+) on node (?P<node>\S+) exited on signal (?P<signal>\d+)")
_LIGHTNING = lazy_re(r"\[rank: (\d+)\] Child process with PID (\d+) terminated with code (-?\d+)")
_SPAWN = lazy_re(r"process (\d+) terminated with (?:signal (SIG[A-Z]+)|exit code (\d+))|-- Process (\d+) terminated with the following error")
_SIGNALS = {"SIGKILL": 9, "SIGSEGV": 11, "SIGABRT": 6, "SIGTERM": 15, "SIGBUS": 7, "SIGFPE": 8, "SIGILL": 4}
_WORDS = {"Killed": -9, "Out Of Memory": -9, "Terminated": -15, "Segmentation fault": -11, "Aborted": -6, "Bus error": -7}
_WORDS |= {"Floating point exception": -8, "Illegal instruction": -4}
_GATE = ("exitcode", "Root Cause", "srun: error", "with PID", "terminated with", "forcefully", "Failures:")


def deaths(lines: Sequence[Line], clock: Clock) -> tuple[Death, ...]:
    """Read what launchers say of the ends of ranks, in the order of the lines."""
    joined = "\n".join([line.text for line in lines])
    if not any(word in joined for word in _GATE):
        return ()
    forced = {int(match[1]) for line in lines if (match := _FORCED.search(line.text))}
    found = [*_table(lines, clock, forced), *_others(lines, clock)]
    listed = {(death.pid, death.status) for death in found}
    for line in lines:
        child = _CHILD.search(line.text)
        if child and (int(child[3]), int(child[1])) not in listed:
            pid = int(child[3])
            found.append(Death(None, int(child[1]), local=int(child[2]), pid=pid, time=clock.read(line.prefix + line.text), first=True))
    return tuple(found)


def _table(lines: Sequence[Line], clock: Clock, forced: set[int]) -> Iterator[Death]:
    """Read torchelastic's summary. Its first entry, `[0]`, is the failure that it saw first."""
    fields: dict[str, str] = {}
    number = ""
    for line in [*lines, None]:
        text = line.text if line is not None else ""
        field = _FIELD.match(text)
        if field and number:
            fields[field[1]] = field[2].strip()
            continue
        if number and "rank" in fields and (line is None or _ENTRY.match(text) or text.startswith(("---", "==="))):
            yield _entry(fields, clock, forced, first=number == "[0]:")
            fields, number = {}, ""
        if _ENTRY.match(text):
            fields, number = {}, text


def _entry(fields: dict[str, str], clock: Clock, forced: set[int], *, first: bool) -> Death:
    rank, status = _RANK.match(fields["rank"]), _STATUS.match(fields.get("exitcode", ""))
    pid = int(status[2]) if status and status[2] else None
    return Death(
        rank=int(rank[1]) if rank else None,
        status=int(status[1]) if status else None,
        local=int(rank[2]) if rank and rank[2] else None,
        node=fields.get("host", ""),
        pid=pid,
        time=clock.read(fields.get("time", "")),
        first=first,
        forced=pid in forced,
    )


def _others(lines: Sequence[Line], clock: Clock) -> Iterator[Death]:
    first = True
    for line in lines:
        text = line.text
        moment = None
        if "srun: error" in text or "srun: error" in line.prefix:
            match = _SRUN.search(line.prefix + text)
            if match:
                moment = clock.read(line.prefix + text)
                status = int(match["code"]) if match["code"] else _WORDS[match["word"]]
                if status > 128:
                    status = 128 - status
                for rank in _listed(match["tasks"]):
                    yield Death(rank, status, node=match["node"], time=moment, first=first)
                first = False
        elif "exited on signal" in text and (match := _MPI.search(text)):
            yield Death(int(match["rank"]), -int(match["signal"]), node=match["node"], pid=int(match["pid"]), first=True)
        elif "Child process with PID" in text and (match := _LIGHTNING.search(line.prefix + text)):
            yield Death(int(match[1]), int(match[3]), pid=int(match[2]), time=clock.read(line.prefix), first=first)
            first = False
        elif "terminated with" in text and (match := _SPAWN.search(text)):
            status = -_SIGNALS.get(match[2], 9) if match[2] else int(match[3] or 1)
            yield Death(int(match[1] or match[4]), status, first=True)


def _listed(text: str) -> list[int]:
    """Read srun's `0-2,5`."""
    found: list[int] = []
    for part in text.split(",")[:4096]:
        low, _, high = part.partition("-")
        if low.isdecimal():
            found += range(int(low), min(int(high), int(low) + 65536) + 1) if high.isdecimal() else [int(low)]
    return found
