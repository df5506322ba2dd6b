"""The map is made as large as the skip connection."""

import torch
from torch import nn

skip = torch.rand(2, 8, 33, 33)
up = nn.functional.interpolate(nn.MaxPool2d(2)(skip), size=skip.shape[-2:], mode="nearest")
x = torch.cat([up, skip], dim=1)
print("joined", tuple(x.shape))
