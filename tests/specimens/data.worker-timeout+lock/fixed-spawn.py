"""The worker inherits no locks."""

import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

cache = threading.Lock()


class Cached(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        with cache:
            return torch.tensor(i)


def refresh():
    with cache:
        time.sleep(1)


if __name__ == "__main__":
    threading.Thread(target=refresh).start()
    time.sleep(0.1)
    loader = DataLoader(Cached(), batch_size=4, num_workers=1, timeout=50, multiprocessing_context="forkserver")
    print("batches", len(list(loader)))
