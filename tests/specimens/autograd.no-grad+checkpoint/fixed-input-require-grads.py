"""The block's input requires grad."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

table, block = nn.Embedding(10, 4), nn.Linear(4, 1)
table.weight.requires_grad_(False)
x = table(torch.tensor([1, 2, 3]))
x.requires_grad_(True)
loss = checkpoint(block, x, use_reentrant=True).pow(2).mean()
loss.backward()
print("gradient", tuple(block.weight.grad.shape))
