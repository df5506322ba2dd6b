"""A width that division made a float."""

import torch
from torch import nn

width = 64
hidden = width / 2
layer = nn.Linear(width, hidden)
print("out", tuple(layer(torch.rand(2, width)).shape))
