"""The device that is there."""

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(4, 2).to(device)
print("out", tuple(model(torch.rand(3, 4, device=device)).shape))
