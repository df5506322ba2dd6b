"""The model has the saved number of classes."""

import torch
from torch import nn


def build(classes):
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, classes))


torch.save(build(10).state_dict(), "ten.pt")
model = build(10)
state = torch.load("ten.pt", map_location="cpu", weights_only=True)
model.load_state_dict(state)
print("body loaded", bool((model[0].weight == state["0.weight"]).all()))
