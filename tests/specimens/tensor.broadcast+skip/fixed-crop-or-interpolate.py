"""The map is made as large as the skip connection."""

import torch
from torch import nn

x = torch.rand(2, 8, 33, 33)
down = nn.MaxPool2d(2)(x)
up = nn.functional.interpolate(down, size=x.shape[-2:], mode="bilinear", align_corners=False)
print("sum", tuple((up + x).shape))
