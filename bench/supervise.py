"""`aifix run` against the bare command: a program that prints 1 GB, and one that prints 10,000 short lines a second.

    python bench/supervise.py [GIGABYTES]

Both write into a pipe that `cat` reads. CPU seconds are those of all processes together: they hold on a loaded machine, wall time does not.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time

AIFIX = [sys.executable, "-m", "aifix", "run", "-q", "--"]
LINE = b"step 12345 | loss 1.2345 | lr 3.0e-04 | grad norm 0.812 | 1,234 samples/s | eta 3:21:07\n"
PRINTER = "import os, sys\nblock = sys.argv[1].encode() * 700\nleft = int(float(sys.argv[2]) * 1e9)\nwhile left > 0: left -= os.write(1, block)\n"
PYTHON = "import sys\nline = sys.argv[1][:-1]\nfor _ in range(int(float(sys.argv[2]) * 1e9 / len(sys.argv[1]))): print(line)\n"
TICKER = """
import os, sys, time
period = 1 / float(sys.argv[1])
start = time.monotonic()
for number in range(int(sys.argv[2])):
    while (now := time.monotonic()) < start + number * period:
        time.sleep(max(0, start + number * period - now))
    os.write(1, b"%.9f step 1 loss 0.5\\n" % time.monotonic())
"""


def printing(command: list[str], gigabytes: float, program: str = PRINTER) -> tuple[float, float]:
    """Give wall and CPU seconds of a program that prints."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    source = subprocess.Popen([*command, sys.executable, "-c", program, LINE.decode(), str(gigabytes)], stdout=subprocess.PIPE)
    sink = subprocess.Popen(["cat"], stdin=source.stdout, stdout=subprocess.DEVNULL)
    assert source.stdout is not None
    source.stdout.close()
    assert source.wait() == 0
    sink.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - started, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ticking(command: list[str], rate: int, lines: int) -> list[float]:
    """Give the delay of each line, from just before it was written to when it was read here."""
    source = subprocess.Popen([*command, sys.executable, "-c", TICKER, str(rate), str(lines)], stdout=subprocess.PIPE)
    assert source.stdout is not None
    delays, rest = [], b""
    while data := os.read(source.stdout.fileno(), 1 << 16):
        now = time.monotonic()
        *whole, rest = (rest + data).split(b"\n")
        delays += [now - float(line.split()[0]) for line in whole]
    assert source.wait() == 0
    assert len(delays) == lines
    return sorted(delays)


def main() -> None:
    """Measure and print."""
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    for what, program in (("written in blocks of 60 KB", PRINTER), ("by Python's print, line by line", PYTHON)):
        print(f"{gigabytes:g} GB {what}, best of 3:")
        found = {}
        for name, command in (("bare", []), ("aifix run", AIFIX)):
            runs = [printing(command, gigabytes, program) for _ in range(3)]
            found[name] = min(run[0] for run in runs), min(run[1] for run in runs)
            print(f"  {name:10} wall {found[name][0]:6.2f} s   CPU {found[name][1]:6.2f} s")
        print(f"  ratio      wall {found['aifix run'][0] / found['bare'][0]:6.2f}     CPU {found['aifix run'][1] / found['bare'][1]:6.2f}")
    print("10,000 short lines a second, 5 s, delay of a line:")
    for name, command in (("bare", []), ("aifix run", AIFIX)):
        delays = ticking(command, 10_000, 50_000)
        print(f"  {name:10} median {statistics.median(delays) * 1e6:7.0f} us   99 % {delays[int(len(delays) * 0.99)] * 1e6:9.0f} us")


if __name__ == "__main__":
    main()
