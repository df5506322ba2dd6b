"""A model is built empty, and moved before it has weights."""

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


torch.save(build().state_dict(), "model.pt")
with torch.device("meta"):
    model = build()
model = model.to("cpu")
print("out", tuple(model(torch.ones(3, 4)).shape))
