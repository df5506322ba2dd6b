"""Images come with their channels last."""

import torch
from torch import nn

conv = nn.Conv2d(3, 8, kernel_size=3)
images = torch.rand(2, 32, 32, 3)
print("maps", tuple(conv(images).shape))
