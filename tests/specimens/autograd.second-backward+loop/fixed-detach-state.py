"""The features carry no graph."""

import torch
from torch import nn

encoder, head = nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Linear(8, 1)
x = torch.rand(2, 4)
features = encoder(x).detach()
for step in range(2):
    loss = head(features).pow(2).mean()
    loss.backward()
print("loss", loss.dim())
