"""The function stands at the top level of the module."""

import torch
from torch.utils.data import DataLoader, Dataset


class Scaled(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return self.transform(torch.tensor(float(i)))


def half(x):
    return x / 2


if __name__ == "__main__":
    loader = DataLoader(Scaled(half), batch_size=4, num_workers=1, multiprocessing_context="spawn")
    print("total", sum(batch.sum().item() for batch in loader))
