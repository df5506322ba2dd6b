"""A tensor goes in."""

import torch
from torch import nn

layer = nn.Linear(3, 2)
out = layer(torch.as_tensor([0.1, 0.2, 0.3], dtype=torch.float32))
print("out", tuple(out.shape))
