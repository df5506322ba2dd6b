"""A sample takes longer than the loader waits."""

import time

import torch
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        time.sleep(1.5)
        return torch.tensor(i)


loader = DataLoader(Slow(), batch_size=2, num_workers=1, timeout=1)
print("batches", len(list(loader)))
