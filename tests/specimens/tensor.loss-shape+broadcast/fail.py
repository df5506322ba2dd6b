"""A warning that is none to ignore: column and row broadcast to a square, and the mean is taken over all pairs."""

import torch
from torch import nn

model = nn.Linear(4, 1)
x, target = torch.rand(8, 4), torch.rand(8)
loss = nn.functional.mse_loss(model(x), target)
print("loss", loss.dim())
