"""A worker is forked while a thread of the parent holds a lock that the data set needs: nobody will ever release it there."""

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
    loader = DataLoader(Cached(), batch_size=4, num_workers=1, timeout=3, multiprocessing_context="fork")
    print("batches", len(list(loader)))
