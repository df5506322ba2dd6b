"""A single image, without a batch, goes through a batch norm."""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
image = torch.rand(3, 32, 32)
print("maps", model(image).dim())
