"""The model is built with its weights from the start."""

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


torch.save(build().state_dict(), "model.pt")
model = build()
model.load_state_dict(torch.load("model.pt"))
model = model.to("cpu")
print("out", tuple(model(torch.ones(3, 4)).shape))
