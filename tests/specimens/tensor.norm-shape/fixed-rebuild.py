"""As many as there are."""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 32, 3), nn.BatchNorm2d(32), nn.ReLU())
print("maps", tuple(model(torch.rand(2, 3, 8, 8)).shape))
