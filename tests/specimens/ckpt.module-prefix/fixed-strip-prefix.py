"""The prefix is stripped."""

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


torch.save(nn.DataParallel(build()).state_dict(), "model.pt")
model = build()
state = torch.load("model.pt", map_location="cpu", weights_only=True)
state = {name.removeprefix("module."): value for name, value in state.items()}
model.load_state_dict(state)
print("loaded", len(model.state_dict()))
