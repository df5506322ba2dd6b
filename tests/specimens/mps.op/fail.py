"""A device is written down that only a Mac has."""

import torch
from torch import nn

device = "mps"
model = nn.Linear(4, 2).to(device)
print("out", tuple(model(torch.rand(3, 4, device=device)).shape))
