"""A state dict is what torch.load opens."""

import torch
from torch import nn

torch.save(nn.Linear(8, 4).state_dict(), "model.pt")
state = torch.load("model.pt")
print("loaded", len(state))
