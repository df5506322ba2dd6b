"""Channels first."""

import torch
from torch import nn

conv = nn.Conv2d(3, 8, kernel_size=3)
images = torch.rand(2, 32, 32, 3)
print("maps", tuple(conv(images.permute(0, 3, 1, 2).contiguous()).shape))
