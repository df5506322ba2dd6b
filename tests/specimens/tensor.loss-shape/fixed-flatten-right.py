"""Only the features are flattened, and the head takes them all."""

import torch
from torch import nn

conv = nn.Conv2d(1, 4, 3)
head = nn.Linear(400, 10)
images, target = torch.rand(8, 1, 12, 12), torch.randint(0, 10, (8,))
logits = head(torch.flatten(conv(images), 1))
loss = nn.functional.cross_entropy(logits, target)
print("loss", loss.dim(), tuple(logits.shape))
