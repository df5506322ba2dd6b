"""A model all of whose parameters are frozen."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
for parameter in model.parameters():
    parameter.requires_grad_(False)
loss = model(torch.rand(3, 4)).pow(2).mean()
loss.backward()
print("loss", loss.dim())
