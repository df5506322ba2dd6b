"""The early layers keep the size."""

import torch
from torch import nn

layers = [nn.Conv2d(3 if i == 0 else 8, 8, 3, stride=2 if i > 3 else 1, padding=1) for i in range(5)]
model = nn.Sequential(*layers, nn.Conv2d(8, 4, kernel_size=7))
images = torch.rand(2, 3, 64, 64)
print("out", tuple(model(images).shape))
