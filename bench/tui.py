"""The interface: processor time to the first paint, and to the proof in a log of 200 MB, with its peak memory (Linux).

python bench/tui.py [RUNS]
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

from aifix.examples import path

SIZE = 200_000_000
PATIENCE = 60.0
TICKS = os.sysconf("SC_CLK_TCK")


def big_log(target: Path) -> None:
    """Write 200 MB of four ranks' steps, with a failed run at about two thirds."""
    line = b"2024-05-01 12:00:00 [rank%d]: step %d loss 0.%d lr 1e-4 grad_norm 1.23 tokens/s 12345\n"
    failure = path("cuda-oom").read_bytes()
    with target.open("wb") as stream:
        number = 0
        while stream.tell() < SIZE:
            number += 1
            stream.write(line % (number % 4, number, number))
            if number == 1_500_000:
                stream.write(failure)


def until(arguments: list[str], text: str, state: str) -> tuple[float, float, float]:
    """Run on a pseudo-terminal until a text is painted; gives processor seconds, seconds by the clock, and peak MiB."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(XDG_STATE_HOME=state, TERM="xterm-256color")
        os.execv(sys.executable, [sys.executable, "-m", "aifix", "tui", *arguments])  # noqa: S606 - a program of ours
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    started, painted = time.monotonic(), b""
    while text.encode() not in painted and time.monotonic() - started < PATIENCE:
        if select.select([terminal], [], [], 1)[0]:
            painted += os.read(terminal, 1 << 16)
    wall = time.monotonic() - started
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    peak = next(int(line.split()[1]) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    return (int(fields[11]) + int(fields[12])) / TICKS, wall, peak / 1024


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "big.log")
        big_log(log)
        for name, arguments, text in (
            ("first paint", [], "What killed"),
            ("first paint with a log", [str(path("cuda-oom"))], "reading"),
            ("diagnosis of a small log", [str(path("cuda-oom"))], "failed:"),
            ("proof in 200 MB", [str(log)], "▶"),
        ):
            taken = [until(arguments, text, folder) for _ in range(runs)]
            cpu, wall, peak = (statistics.median(column) for column in zip(*taken, strict=True))
            print(f"{name:<26} {cpu:.2f} s of processor time, {wall:.2f} s by the clock, {peak:.0f} MiB at most")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
