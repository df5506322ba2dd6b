"""Sentences of different length in a batch."""

import torch
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.arange(3 + i), i % 2


loader = DataLoader(Sentences(), batch_size=4)
for batch in loader:
    x, y = batch[0], batch[1]
    print("batch of", len(x))
