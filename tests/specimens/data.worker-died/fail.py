"""Each worker keeps a copy of the features, and a watchdog of the machine's kills a process when they are too many."""

import os
import signal
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self):
        self.features = None

    def __len__(self):
        return 32

    def __getitem__(self, i):
        if self.features is None:
            self.features = torch.rand(10 * 2**20)
        time.sleep(0.02)
        return self.features[i]


def watchdog(parent, limit):
    """Kill the newest child when all of them hold more than `limit` bytes: earlyoom on a small scale."""
    while True:
        with open(f"/proc/self/task/{parent}/children") as stream:
            children = [int(pid) for pid in stream.read().split()]
        held = {}
        for pid in children:
            try:
                with open(f"/proc/{pid}/smaps_rollup") as stream:
                    held[pid] = int(stream.read().partition("Private_Dirty:")[2].split()[0]) * 1024
            except (OSError, IndexError):
                continue
        if sum(held.values()) > limit:
            os.kill(max(held), signal.SIGKILL)
            return
        time.sleep(0.01)


if __name__ == "__main__":
    threading.Thread(target=watchdog, args=(threading.get_native_id(), 140 * 2**20), daemon=True).start()
    loader = DataLoader(Rows(), batch_size=4, num_workers=4)
    print("batches", len([batch for batch in loader]))
