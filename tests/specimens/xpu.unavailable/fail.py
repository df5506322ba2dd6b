"""A device is written down that only an Intel GPU and its build of torch have."""

import torch
from torch import nn

device = "xpu"
model = nn.Linear(4, 2).to(device)
print("out", tuple(model(torch.rand(3, 4, device=device)).shape))
