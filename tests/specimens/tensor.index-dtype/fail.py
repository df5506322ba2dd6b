"""Class targets that are no int64."""

import torch
from torch import nn

criterion = nn.CrossEntropyLoss()
logits, labels = torch.rand(8, 3, requires_grad=True), torch.randint(0, 3, (8,)).int()
loss = criterion(logits, labels)
loss.backward()
print(f"loss {loss.item():.4f}")
