"""A mask of shape [batch, 1] is to choose among [batch, tokens]."""

import torch

x = torch.rand(2, 8)
mask = torch.tensor([[True], [False]])
print("kept", x[mask].numel())
