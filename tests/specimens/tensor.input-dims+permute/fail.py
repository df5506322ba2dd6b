"""A batch of images is permuted as if it were one image."""

import torch

images = torch.rand(4, 32, 32, 3)
channels_first = images.permute(2, 0, 1)
print("images", channels_first.shape[-3])
