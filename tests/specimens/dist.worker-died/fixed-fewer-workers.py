"""As many worker processes as the memory that the job was given stands."""

import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import active_children

GRANTED = 120 << 20


def tokenize(shard):
    buffer = bytearray(os.urandom(1 << 20)) * 50
    time.sleep(2.0)
    return len(buffer)


def watch():
    """Do as a job scheduler does: end a process of a job that holds more than it was granted."""
    while True:
        held = {}
        for child in active_children():
            try:
                with open(f"/proc/{child.pid}/statm") as text:
                    size, resident, shared = map(int, text.read().split()[:3])
            except (OSError, ValueError):
                continue
            held[child.pid] = (resident - shared) * os.sysconf("SC_PAGE_SIZE")
        if sum(held.values()) > GRANTED:
            os.kill(max(held, key=held.get), signal.SIGKILL)
            return
        time.sleep(0.02)


if __name__ == "__main__":
    threading.Thread(target=watch, daemon=True).start()
    with ProcessPoolExecutor(max_workers=2) as pool:
        print("shards", len(list(pool.map(tokenize, range(4)))))
