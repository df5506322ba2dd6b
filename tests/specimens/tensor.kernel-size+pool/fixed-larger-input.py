"""Images of the size that the network was made for."""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.AvgPool2d(7), nn.Flatten())
print("features", tuple(model(nn.functional.interpolate(torch.rand(2, 3, 8, 8), size=(9, 9))).shape))
