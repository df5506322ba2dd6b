"""Labels from 1 to 3 for three classes."""

import torch
from torch import nn

model = nn.Linear(4, 3)
labels = torch.tensor([1, 2, 3, 1])
loss = nn.functional.cross_entropy(model(torch.rand(4, 4)), labels)
print("loss", loss.dim())
