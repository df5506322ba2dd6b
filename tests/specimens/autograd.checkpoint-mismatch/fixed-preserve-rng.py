"""The choice is made before the block."""

import random

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

random.seed(1)
first, second = nn.Linear(4, 4), nn.Linear(4, 4)


def block(x, keep):
    x = first(x).tanh()
    return second(x).tanh() if keep else x


for step in range(8):
    x = torch.rand(2, 4, requires_grad=True)
    keep = random.random() < 0.5
    checkpoint(block, x, keep, use_reentrant=False, preserve_rng_state=True).sum().backward()
print("steps", step + 1)
