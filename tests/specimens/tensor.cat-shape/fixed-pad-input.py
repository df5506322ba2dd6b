"""The image is padded to a multiple of two."""

import torch
from torch import nn

skip = torch.rand(2, 8, 33, 33)
h, w = skip.shape[-2:]
skip = nn.functional.pad(skip, (0, -w % 2, 0, -h % 2))
up = nn.functional.interpolate(nn.MaxPool2d(2)(skip), scale_factor=2)
x = torch.cat([up, skip], dim=1)
print("joined", tuple(x.shape))
