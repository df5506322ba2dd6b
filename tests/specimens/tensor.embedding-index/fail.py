"""One id more than the table has rows."""

import torch
from torch import nn

sequences = [torch.tensor([1, 4, 7]), torch.tensor([2, 10])]
table = nn.Embedding(10, 8)
for ids in sequences:
    print("vectors", tuple(table(ids).shape))
