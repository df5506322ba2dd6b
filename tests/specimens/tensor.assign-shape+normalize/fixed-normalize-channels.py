"""One channel's statistics."""

import torch

images = torch.rand(8, 1, 28, 28)
mean = torch.tensor([0.5]).view(1, 1, 1)
images.sub_(mean)
print("images", tuple(images.shape))
