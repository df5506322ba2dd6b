"""backward() of a number."""

import torch
from torch import nn

model = nn.Linear(4, 1)
loss = nn.functional.mse_loss(model(torch.rand(3, 4)), torch.rand(3, 1)).item()
loss.backward()
print("done")
