"""The features are computed in each step."""

import torch
from torch import nn

encoder, head = nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Linear(8, 1)
x = torch.rand(2, 4)
for step in range(2):
    features = encoder(x)
    loss = head(features).pow(2).mean()
    loss.backward()
print("loss", loss.dim())
