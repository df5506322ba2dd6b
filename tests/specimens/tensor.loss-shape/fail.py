"""view(-1, n) folds features into the batch."""

import torch
from torch import nn

conv = nn.Conv2d(1, 4, 3)
head = nn.Linear(100, 10)
images, target = torch.rand(8, 1, 12, 12), torch.randint(0, 10, (8,))
logits = head(conv(images).view(-1, 100))
loss = nn.functional.cross_entropy(logits, target)
print("loss", loss.dim(), tuple(logits.shape))
