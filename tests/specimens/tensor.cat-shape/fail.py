"""A decoder's map and the skip connection of an image whose size is not a multiple of two."""

import torch
from torch import nn

skip = torch.rand(2, 8, 33, 33)
up = nn.functional.interpolate(nn.MaxPool2d(2)(skip), scale_factor=2)
x = torch.cat([up, skip], dim=1)
print("joined", tuple(x.shape))
