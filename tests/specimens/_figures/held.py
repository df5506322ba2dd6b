"""What a piece of work holds at most, read off the kernel (Linux)."""

import json
import os
import time


def status(name):
    with open("/proc/self/status", encoding="ascii") as stream:
        return next(int(line.split()[1]) * 1024 for line in stream if line.startswith(name))


def measure(work, prepare=None):
    """Print what `work` held at most beyond what was held before."""
    if prepare is not None:
        prepare()
    with open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
        stream.write("5")
    before = status("VmRSS")
    work()
    print(json.dumps({"held": max(status("VmHWM") - before, 0)}), flush=True)
    os._exit(0)


def spend(work, times=10):
    """Print the processor time of `work`, run as often behind two runs that warm up."""
    work()
    work()
    started = time.process_time()
    for _ in range(times):
        work()
    print(json.dumps({"seconds": (time.process_time() - started) / times}), flush=True)
    os._exit(0)
