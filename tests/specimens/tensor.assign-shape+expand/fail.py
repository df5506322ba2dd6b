"""Rows are divided by norms that lost their dimension."""

import torch

x = torch.rand(6, 4)
norms = x.norm(dim=1)
x = x / norms.expand(6, 4)
print("rows", tuple(x.shape))
