"""Masks of 0 and 255 are the targets of binary cross-entropy."""

import torch
from torch import nn

torch.manual_seed(0)
probability = torch.sigmoid(nn.Conv2d(3, 1, 1)(torch.rand(2, 3, 8, 8)))
mask = torch.where(torch.rand(2, 1, 8, 8) > 0.5, 255, 0)
loss = nn.functional.binary_cross_entropy(probability, mask.float())
loss.backward()
print("loss is finite:", bool(loss.isfinite()))
