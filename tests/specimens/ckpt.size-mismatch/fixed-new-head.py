"""The head is left out, and starts at random."""

import torch
from torch import nn


def build(classes):
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, classes))


torch.save(build(10).state_dict(), "ten.pt")
model = build(3)
state = torch.load("ten.pt", map_location="cpu", weights_only=True)
own = model.state_dict()
fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
print("to be trained", sorted(set(own) - set(fits)))
model.load_state_dict(fits, strict=False)
print("body loaded", bool((model[0].weight == state["0.weight"]).all()))
