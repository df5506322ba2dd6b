"""item() of a loss that was not reduced."""

import torch
from torch import nn

criterion = nn.CrossEntropyLoss(reduction="none")
loss = criterion(torch.rand(4, 3), torch.tensor([0, 1, 2, 0]))
print("loss", loss.item() > 0)
