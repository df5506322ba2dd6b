"""An image without a batch dimension."""

import torch

x = torch.rand(3, 32, 32)
batch, channels, height, width = x.shape
print("pixels", height * width)
