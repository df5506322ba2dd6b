"""The inner model is saved."""

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


model = nn.DataParallel(build())
inner = getattr(model, "module", model)
torch.save(inner.state_dict(), "model.pt")
model = build()
state = torch.load("model.pt", map_location="cpu", weights_only=True)
model.load_state_dict(state)
print("loaded", len(model.state_dict()))
