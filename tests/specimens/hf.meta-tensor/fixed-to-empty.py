"""Room is made, and the weights are loaded."""

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


torch.save(build().state_dict(), "model.pt")
with torch.device("meta"):
    model = build()
model.to_empty(device="cpu")
model.load_state_dict(torch.load("model.pt", map_location="cpu"), assign=True)
print("out", tuple(model(torch.ones(3, 4)).shape))
