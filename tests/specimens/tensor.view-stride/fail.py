"""view() of a transposed tensor."""

import torch

x = torch.rand(2, 3, 4)
flat = x.transpose(1, 2).view(2, -1)
print("flat", tuple(flat.shape))
