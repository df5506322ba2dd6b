"""Classes in dimension 1."""

import torch
from torch import nn

logits, target = torch.rand(2, 5, 11), torch.randint(0, 11, (2, 5))
loss = nn.functional.cross_entropy(logits.transpose(1, 2), target)
print("loss", loss.dim())
