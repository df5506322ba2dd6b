"""The ids are cloned before they are changed."""

import torch
from torch import nn

table = nn.Embedding(10, 4)
ids = torch.tensor([1, 2, 3])
vectors = table(ids)
masked = ids.clone()
masked[1] = 0
vectors.sum().backward()
print("gradient", tuple(table.weight.grad.shape))
