"""A device is written down, and this build of torch has no CUDA."""

import torch
from torch import nn

device = "cuda"
model = nn.Linear(4, 2).to(device)
print("out", tuple(model(torch.rand(3, 4, device=device)).shape))
