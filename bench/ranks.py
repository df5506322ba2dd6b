"""`aifix ranks` on the logs of a thousand ranks: wall and processor time, and the peak memory of all its processes.

    python bench/ranks.py [--ranks 1024] [--megabytes 20] [--distinct 48] [--folder DIR]

The logs are generated: a training run with times, losses, step and data times and warnings, in which one rank runs out of memory and the others
then wait in a collective until NCCL's watchdog ends them. `--distinct` files are really written; the other ranks' are hard links to them (every
byte is still read for every rank, from the page cache), and the files of the first rank to fail, of a slow one and of those whose node's clock is
wrong are always their own. The memory is the proportional set size, summed over the processes twenty times a second: shared pages count once.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

START = 1_790_000_000
FAILING, SLOW, SKEWED, ABSENT = 0.41, 0.62, 0.77, 0.9
"""Where among the ranks the special ones stand."""
WAITED = (
    "[E{stamp} ProcessGroupNCCL.cpp:685] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88123, OpType=ALLREDUCE, "
    "NumelIn=4194304, NumelOut=4194304, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n"
    "[E{stamp} ProcessGroupNCCL.cpp:1895] [PG ID 0 PG GUID 0 Rank {rank}] Process group watchdog thread terminated with exception: "
    "[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88123, OpType=ALLREDUCE, NumelIn=4194304, NumelOut=4194304, "
    "Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n"
)
MEMORY = (
    'Traceback (most recent call last):\n  File "/workspace/train.py", line 212, in <module>\n    main()\n'
    '  File "/workspace/train.py", line 187, in main\n'
    '    loss = model(batch)\n  File "/workspace/model.py", line 64, in forward\n    return self.head(self.norm(hidden))\n'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 3 has a total capacity of 79.11 GiB of which 311.12 MiB is free. "
    "Including non-PyTorch memory, this process has 78.80 GiB memory in use. Of the allocated memory 76.87 GiB is allocated by PyTorch, and 1.02 GiB "
    "is reserved by PyTorch but unallocated.\n"
)


def write(path: Path, size: int, seed: int, *, data_seconds: float = 0.012, ahead: float = 0.0, end: str = "waited") -> None:
    """Write one rank's log."""
    chance = random.Random(seed)  # noqa: S311 - a bench
    stop = int(size / 118)
    with path.open("w") as stream:
        step = 0
        done = 0
        while done < size:
            parts = []
            for _ in range(2000):
                moment = START + step * 0.5 + ahead
                stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment))
                parts.append(
                    f"{stamp},{step % 2 * 500:03d} - INFO - step {step}/{stop} loss {8 / (1 + step / 900):.4f} lr 3.0e-04"
                    f" grad_norm {chance.random():.3f} step_time 0.{480 + chance.randrange(40)}s"
                    f" data_time {data_seconds + chance.random() / 500:.4f}s\n"
                )
                if step % 400 == 7:
                    parts.append(f"{stamp},000 - WARNING - shard 00017 skipped 3 samples that could not be decoded\n")
                step += 1
            text = "".join(parts)
            done += len(text)
            stream.write(text)
        last = START + step * 0.5 + ahead + (0 if end == "memory" else 600)
        stamp = time.strftime("%m%d %H:%M:%S", time.gmtime(last)) + ".482911"
        stream.write(MEMORY if end == "memory" else WAITED.format(stamp=stamp, rank=seed))


def generate(folder: Path, ranks: int, size: int, distinct: int) -> tuple[int, int]:
    """Write the logs of a job; gives the rank that failed first and the one without a log."""
    failing, slow, skewed, absent = (int(ranks * share) for share in (FAILING, SLOW, SKEWED, ABSENT))
    originals = []
    for rank in range(ranks):
        path = folder / f"llm.node{rank // 8:03d}.{rank}.out"
        if rank == absent:
            continue
        if rank == failing:
            write(path, size, rank, end="memory")
        elif rank == slow:
            write(path, size, rank, data_seconds=0.2)
        elif rank // 8 == skewed // 8:
            write(path, size, rank, ahead=90.0)
        elif len(originals) < distinct:
            write(path, size, rank)
            originals.append(path)
        else:
            os.link(originals[rank % distinct], path)
    return failing, absent


def watch(pid: int, peak: list[int], done: threading.Event) -> None:
    """Sum the proportional set size of a process and its children, again and again."""
    while not done.wait(0.05):
        total = 0
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            continue
        for one in (str(pid), *children):
            try:
                for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
                    if line.startswith("Pss:"):
                        total += int(line.split()[1])
            except (OSError, ValueError):
                continue
        peak[0] = max(peak[0], total)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--distinct", type=int, default=48)
    parser.add_argument("--folder", default="", help="where the logs go; kept when given, and used again when they are there")
    given = parser.parse_args()
    folder = Path(given.folder or tempfile.mkdtemp(prefix="ranks-"))
    try:
        folder.mkdir(exist_ok=True)
        if not any(folder.iterdir()):
            failing, absent = generate(folder, given.ranks, int(given.megabytes * 1e6), given.distinct)
        else:
            failing, absent = int(given.ranks * FAILING), int(given.ranks * ABSENT)
        started = time.monotonic()
        process = subprocess.Popen([sys.executable, "-m", "aifix", "ranks", "--format", "json", str(folder)], stdout=subprocess.PIPE)
        peak, done = [0], threading.Event()
        watcher = threading.Thread(target=watch, args=(process.pid, peak, done))
        watcher.start()
        assert process.stdout is not None
        report = json.loads(process.stdout.read())
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 1
        wall = time.monotonic() - started
        done.set()
        watcher.join()
    finally:
        if not given.folder:
            shutil.rmtree(folder, ignore_errors=True)
    verdict = report["verdict"]
    print(f"{report['files']} files, {report['bytes'] / 1e9:.2f} GB; wall {wall:.1f} s, CPU {usage.ru_utime + usage.ru_stime:.1f} s", end=", ")
    print(f"{report['bytes'] / 1e6 / (usage.ru_utime + usage.ru_stime):.0f} MB a CPU second; peak memory {peak[0] / 1024:.0f} MiB in all processes")
    print(f"said: {verdict['title']} ({verdict['kind']}, right: {verdict['ranks'] == [failing]}); missing {report['missing']} (right: {[absent]})")
    slow = [(one["rank"], one["measure"]) for one in report["stragglers"]]
    print(f"stragglers {slow}; clocks {[(one['name'], one['seconds']) for one in report['skews']]}")


if __name__ == "__main__":
    main()
