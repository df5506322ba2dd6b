"""Both are rows."""

import torch
from torch import nn

model = nn.Linear(4, 1)
x, target = torch.rand(8, 4), torch.rand(8)
loss = nn.functional.mse_loss(model(x).squeeze(-1), target)
print("loss", loss.dim())
