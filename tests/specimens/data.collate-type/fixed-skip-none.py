"""Such samples are dropped before the batch is made."""

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


def collate(batch):
    return torch.utils.data.default_collate([sample for sample in batch if sample is not None])


loader = DataLoader(Readings(), batch_size=5, collate_fn=collate)
print("samples", sum(len(batch) for batch in loader))
