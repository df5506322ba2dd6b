"""Workers started by spawn at the top level of a file."""

import multiprocessing

import torch
from torch.utils.data import DataLoader, Dataset

LENGTH = 8


class Numbers(Dataset):
    def __len__(self) -> int:
        return LENGTH

    def __getitem__(self, index):
        return torch.tensor(float(index))


multiprocessing.set_start_method("spawn", force=True)
# draw everything once
loader = DataLoader(Numbers(), batch_size=4, num_workers=1)
total = 0.0
for batch in loader:
    total += batch.sum().item()
print(f"total {total}")
