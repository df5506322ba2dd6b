"""A state dict, opened as if it were TorchScript."""

import torch
from torch import nn

torch.save(nn.Linear(8, 4).state_dict(), "model.pt")
state = torch.jit.load("model.pt")
print("loaded", len(state))
