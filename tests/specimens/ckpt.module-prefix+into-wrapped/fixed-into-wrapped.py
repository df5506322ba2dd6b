"""The inner model takes the weights."""

import torch
from torch import nn

torch.save(nn.Linear(4, 2).state_dict(), "model.pt")
model = torch.compile(nn.Linear(4, 2))
state = torch.load("model.pt", map_location="cpu", weights_only=True)
model._orig_mod.load_state_dict(state)
print("loaded", bool((state["weight"] == model.weight).all()))
