"""One-channel images are normalised in place with the statistics of three channels."""

import torch

images = torch.rand(8, 1, 28, 28)
mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
images.sub_(mean)
print("images", tuple(images.shape))
