"""Measure commands beside their yardsticks: paired runs, by processor time, medians of ratios."""

from __future__ import annotations

import os
import statistics
import subprocess
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Cost(NamedTuple):
    """What one run took: seconds of processor time (all of the pipeline's processes), seconds by the clock, peak memory in MiB."""

    cpu: float
    wall: float
    peak: float = 0.0


class Place:
    """Where commands run: environment and folder."""

    def __init__(self, environ: dict[str, str], folder: Path) -> None:
        self.environ = environ
        self.folder = folder

    def run(self, command: Sequence[str], data: bytes = b"", status: int | None = None) -> Cost:
        """Run a command on a few bytes in a pipe.

        Args:
            command: the command.
            data: what it reads.
            status: the exit status that it must have: what breaks early is quick.

        Raises:
            RuntimeError: it ended with another one.
        """
        begin, source = os.pipe()
        writer = threading.Thread(target=_fill, args=(source, data))
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=begin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environ, cwd=self.folder, close_fds=True
        )
        os.close(begin)
        writer.start()
        _, ended, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(ended)
        wall = time.perf_counter() - start
        writer.join()
        if status is not None and process.returncode != status:
            message = f"{' '.join(command)} ended with {process.returncode}, not with {status}"
            raise RuntimeError(message)
        return Cost(usage.ru_utime + usage.ru_stime, wall)

    def says(self, command: Sequence[str], data: bytes) -> str:
        """Give what a command writes to standard error."""
        done = subprocess.run(command, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.environ, cwd=self.folder, check=False)
        return done.stderr.decode("utf-8", "replace")

    def stream(self, command: Sequence[str], path: Path) -> Cost:
        """Run `cat path | command > /dev/null`; the processor time is that of both."""
        start = time.perf_counter()
        cat = subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE, env=self.environ)
        process = subprocess.Popen(command, stdin=cat.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environ, cwd=self.folder)
        assert cat.stdout is not None
        cat.stdout.close()
        peak = [0]
        watcher = threading.Thread(target=_watch, args=(process.pid, peak))
        watcher.start()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        _, _, other = os.wait4(cat.pid, 0)
        cat.returncode = 0
        wall = time.perf_counter() - start
        watcher.join()
        return Cost(usage.ru_utime + usage.ru_stime + other.ru_utime + other.ru_stime, wall, peak[0] / 1024)


def _fill(descriptor: int, data: bytes) -> None:
    at = 0
    try:
        while at < len(data):
            at += os.write(descriptor, data[at:])
    except OSError:
        pass
    os.close(descriptor)


def _watch(pid: int, peak: list[int]) -> None:
    """Follow a process's own peak memory: `ru_maxrss` would inherit ours."""
    while True:
        try:
            with open(f"/proc/{pid}/status", "rb") as stream:  # noqa: PTH123
                text = stream.read()
        except OSError:
            return
        at = text.find(b"VmHWM:")
        if at < 0:
            return
        peak[0] = max(peak[0], int(text[at + 6 : at + 40].split()[0]))
        time.sleep(0.005)


def paired(one: object, other: object, pairs: int) -> tuple[Cost, Cost, float, float]:
    """Run two things in turns; give their medians and the medians of the paired ratios, by processor time and by the clock."""
    first: list[Cost] = []
    second: list[Cost] = []
    for number in range(pairs):
        runs = [(first, one), (second, other)]
        for costs, what in runs if number % 2 else reversed(runs):
            costs.append(what())  # type: ignore[operator]
    return (
        median(first),
        median(second),
        statistics.median(a.cpu / max(b.cpu, 1e-4) for a, b in zip(first, second, strict=True)),
        statistics.median(a.wall / max(b.wall, 1e-4) for a, b in zip(first, second, strict=True)),
    )


def median(costs: Sequence[Cost]) -> Cost:
    """Give the medians."""
    return Cost(statistics.median(c.cpu for c in costs), statistics.median(c.wall for c in costs), max(c.peak for c in costs))


def first_byte(place: Place, command: Sequence[str]) -> float:
    """Give the seconds from a command's start to the first byte of what was waiting in its pipe."""
    begin, source = os.pipe()
    os.write(source, b"hello\n")
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=begin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=place.environ, cwd=place.folder)
    assert process.stdout is not None
    os.read(process.stdout.fileno(), 1)
    took = time.perf_counter() - start
    os.close(source)
    os.close(begin)
    process.stdout.close()
    process.wait()
    return took


def latency(place: Place, command: Sequence[str], lines: int, gap: float) -> list[float]:
    """Give how long each line takes through a command that has started, in seconds, written one by one."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=place.environ, cwd=place.folder)
    assert process.stdin is not None
    assert process.stdout is not None
    source, sink = process.stdin.fileno(), process.stdout.fileno()
    took: list[float] = []
    for number in range(lines + 20):
        time.sleep(gap)
        start = time.perf_counter()
        os.write(source, b"step %d loss 0.123\n" % number)
        os.read(sink, 4096)
        if number >= 20:  # the first ones wait for the interpreter
            took.append(time.perf_counter() - start)
    process.stdin.close()
    process.stdout.close()
    process.wait()
    return took
