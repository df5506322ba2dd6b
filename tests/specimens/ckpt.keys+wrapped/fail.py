"""The file of a training run holds the weights beside the optimizer and the epoch."""

import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.save({"epoch": 3, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, "last.pt")

state = torch.load("last.pt", map_location="cpu", weights_only=True)
model.load_state_dict(state)
print("loaded", tuple(model.weight.shape))
