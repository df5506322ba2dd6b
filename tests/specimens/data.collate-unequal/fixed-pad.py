"""Padded to the longest of the batch."""

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.arange(3 + i), i % 2


def collate(batch):
    x, y = zip(*batch)
    return pad_sequence(x, batch_first=True), torch.tensor(y), torch.tensor([len(s) for s in x])


loader = DataLoader(Sentences(), batch_size=4, collate_fn=collate)
for batch in loader:
    x, y = batch[0], batch[1]
    print("batch of", len(x))
