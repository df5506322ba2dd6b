"""A batch of one."""

import torch

x = torch.rand(3, 32, 32).unsqueeze(0)
batch, channels, height, width = x.shape
print("pixels", height * width)
