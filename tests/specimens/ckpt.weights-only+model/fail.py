"""The whole model was saved, not its weights."""

import torch
from torch import nn

torch.save(nn.Sequential(nn.Linear(2, 4), nn.ReLU()), "model.pt")

model = torch.load("model.pt")
print("output", tuple(model(torch.rand(3, 2)).shape))
