"""A batch norm for another number of channels than the layer before has."""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 32, 3), nn.BatchNorm2d(64), nn.ReLU())
print("maps", tuple(model(torch.rand(2, 3, 8, 8)).shape))
