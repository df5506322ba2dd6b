"""The loss keeps its graph."""

import torch
from torch import nn

model = nn.Linear(4, 1)
losses = [model(torch.rand(3, 4)).pow(2).mean() for _ in range(2)]
loss = torch.stack(losses).mean()
loss.backward()
print("loss", loss.dim())
