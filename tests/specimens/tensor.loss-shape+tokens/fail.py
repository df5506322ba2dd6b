"""Classes stand last in a language model's logits, and cross_entropy wants them in dimension 1."""

import torch
from torch import nn

logits, target = torch.rand(2, 5, 11), torch.randint(0, 11, (2, 5))
loss = nn.functional.cross_entropy(logits, target)
print("loss", loss.dim())
