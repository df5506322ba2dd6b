"""As many rows as the ids need."""

import torch
from torch import nn

sequences = [torch.tensor([1, 4, 7]), torch.tensor([2, 10])]
rows = int(max(ids.max() for ids in sequences)) + 1
table = nn.Embedding(rows, 8)
for ids in sequences:
    print("vectors", tuple(table(ids).shape))
