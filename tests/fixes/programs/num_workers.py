"""A dataset that cannot be sent to a worker started by spawn."""

import torch
from torch.utils.data import DataLoader, Dataset


class Scaled(Dataset):
    def __init__(self) -> None:
        self.scale = lambda x: 2 * x

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index):
        return self.scale(torch.tensor(float(index)))


if __name__ == "__main__":
    loader = DataLoader(Scaled(), batch_size=4, num_workers=2, multiprocessing_context="spawn", persistent_workers=True, prefetch_factor=4)
    for batch in loader:
        print(f"batch {batch.tolist()}")
