"""The weights are saved, and loaded into a model that the program builds."""

import torch
from torch import nn

torch.save(nn.Sequential(nn.Linear(2, 4), nn.ReLU()).state_dict(), "model.pt")

model = nn.Sequential(nn.Linear(2, 4), nn.ReLU())
model.load_state_dict(torch.load("model.pt"))
print("output", tuple(model(torch.rand(3, 2)).shape))
