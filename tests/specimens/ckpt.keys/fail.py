"""The attribute of a layer was renamed after the checkpoint was made."""

import torch
from torch import nn


class Saved(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 8)
        self.classifier = nn.Linear(8, 2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 8)
        self.head = nn.Linear(8, 2)


torch.save(Saved().state_dict(), "model.pt")
model = Net()
state = torch.load("model.pt", map_location="cpu", weights_only=True)
model.load_state_dict(state)
print("loaded", len(state), "tensors")
