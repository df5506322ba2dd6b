"""The mean of the losses."""

import torch
from torch import nn

model = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss(reduction="none")
loss = criterion(model(torch.rand(8, 4)), torch.randint(0, 3, (8,)))
loss = loss.mean()
loss.backward()
print("gradient", tuple(model.weight.grad.shape))
