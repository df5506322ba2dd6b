"""Ids are masked in place after the embedding has saved them."""

import torch
from torch import nn

table = nn.Embedding(10, 4)
ids = torch.tensor([1, 2, 3])
vectors = table(ids)
ids[1] = 0
vectors.sum().backward()
print("gradient", tuple(table.weight.grad.shape))
