"""Integer one-hot targets for nll_loss."""

import torch
from torch import nn

logits = torch.rand(8, 3)
target = nn.functional.one_hot(torch.randint(0, 3, (8,)), 3)
loss = nn.functional.nll_loss(logits.log_softmax(dim=1), target)
print("loss", loss.dim())
