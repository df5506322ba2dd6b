"""The loss is told of the mark."""

import torch
from torch import nn

logits = torch.rand(2, 5, 8, 8)
masks = torch.zeros(2, 8, 8, dtype=torch.long)
masks[:, 0] = 255
criterion = nn.CrossEntropyLoss(ignore_index=255)
print("loss", criterion(logits, masks).dim())
