"""A batch of one."""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
image = torch.rand(3, 32, 32).unsqueeze(0)
print("maps", model(image).dim())
