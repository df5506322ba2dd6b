"""All dimensions are named."""

import torch

images = torch.rand(4, 32, 32, 3)
channels_first = images.permute(*range(images.dim() - 3), -1, -3, -2)
print("images", channels_first.shape[-3])
