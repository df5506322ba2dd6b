"""The width is inferred."""

import torch
from torch import nn

conv = nn.Conv2d(3, 8, 3, padding=1)
x = conv(torch.rand(4, 3, 32, 32))
print("features", x.view(x.size(0), -1).dim())
