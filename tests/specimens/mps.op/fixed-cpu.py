"""A device is written down only where it is."""

import torch
from torch import nn

device = "mps" if torch.backends.mps.is_available() else "cpu"
model = nn.Linear(4, 2).to(device)
print("out", tuple(model(torch.rand(3, 4, device=device)).shape))
