"""The mask takes the tensor's shape."""

import torch

x = torch.rand(2, 8)
mask = torch.tensor([[True], [False]])
print("kept", x[mask.expand(x.shape)].numel())
