"""A data set that gives None for a sample that it cannot use."""

import torch
from torch.utils.data import DataLoader, Dataset


class Readings(Dataset):
    def __init__(self):
        self.rows = [torch.full((4,), float(i)) for i in range(10)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        if i % 5 == 3:
            return None  # a broken sensor
        return self.rows[i]


loader = DataLoader(Readings(), batch_size=5)
print("samples", sum(len(batch) for batch in loader))
