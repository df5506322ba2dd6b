"""A checkpoint of GPU 63, loaded where there are fewer."""

import torch
from torch import nn


def save_as_on_a_larger_machine(path):
    """Save as a machine with 64 GPUs does: each tensor's place is written beside it."""
    original = torch.serialization.location_tag
    torch.serialization.location_tag = lambda storage: "cuda:63"
    torch.save(nn.Linear(2, 2).state_dict(), path)
    torch.serialization.location_tag = original


save_as_on_a_larger_machine("gpu.pt")
model = nn.Linear(2, 2)
state = torch.load("gpu.pt")
model.load_state_dict(state)
print("loaded")
