"""Pooling makes maps of no size at all."""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.AvgPool2d(7), nn.Flatten())
print("features", tuple(model(torch.rand(2, 3, 8, 8)).shape))
