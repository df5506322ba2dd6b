"""The loss stays a tensor."""

import torch
from torch import nn

model = nn.Linear(4, 1)
loss = nn.functional.mse_loss(model(torch.rand(3, 4)), torch.rand(3, 1))
loss.backward()
print("done")
