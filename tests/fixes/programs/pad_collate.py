"""Samples of unequal length in one batch."""

import torch
from torch.utils.data import DataLoader, Dataset


class Texts(Dataset):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index):
        return torch.ones(index + 1), index % 2


loader = DataLoader(Texts(), batch_size=2)
for tokens, label in loader:
    print("batch", tuple(tokens.shape), label.tolist())
