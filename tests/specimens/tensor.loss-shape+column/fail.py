"""Logits in a column, targets in a row."""

import torch
from torch import nn

model = nn.Linear(4, 1)
x, target = torch.rand(8, 4), torch.randint(0, 2, (8,))
loss = nn.functional.binary_cross_entropy_with_logits(model(x), target.float())
print("loss", loss.dim())
