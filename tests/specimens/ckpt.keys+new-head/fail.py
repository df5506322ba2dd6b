"""Pretrained weights without the head that the new task needs."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 8)
        self.head = nn.Linear(8, 2)


torch.save({name: value for name, value in Net().state_dict().items() if name.startswith("encoder")}, "pretrained.pt")
model = Net()
state = torch.load("pretrained.pt", map_location="cpu", weights_only=True)
model.load_state_dict(state)
print("encoder loaded", bool((model.encoder.weight == state["encoder.weight"]).all()))
