"""A skip connection meets a map that pooling and upsampling made one pixel smaller."""

import torch
from torch import nn

x = torch.rand(2, 8, 33, 33)
down = nn.MaxPool2d(2)(x)
up = nn.functional.interpolate(down, scale_factor=2)
print("sum", tuple((up + x).shape))
