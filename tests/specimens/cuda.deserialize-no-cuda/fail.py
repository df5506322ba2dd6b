"""A checkpoint that was saved on a GPU, loaded where there is none."""

import torch
from torch import nn


def save_as_on_a_gpu(path):
    """Save as a machine with a GPU does: each tensor's place is written beside it."""
    original = torch.serialization.location_tag
    torch.serialization.location_tag = lambda storage: "cuda:0"
    torch.save(nn.Linear(2, 2).state_dict(), path)
    torch.serialization.location_tag = original


save_as_on_a_gpu("gpu.pt")
model = nn.Linear(2, 2)
state = torch.load("gpu.pt")
model.load_state_dict(state)
print("loaded")
