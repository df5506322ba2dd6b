"""A lambda in a data set that goes to a spawned worker."""

import torch
from torch.utils.data import DataLoader, Dataset


class Scaled(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return self.transform(torch.tensor(float(i)))


if __name__ == "__main__":
    loader = DataLoader(Scaled(lambda x: x / 2), batch_size=4, num_workers=1, multiprocessing_context="spawn")
    print("total", sum(batch.sum().item() for batch in loader))
