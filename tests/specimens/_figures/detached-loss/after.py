"""A sum of numbers."""

import held
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 1))


def epoch(steps):
    total = 0
    for _ in range(steps):
        loss = model(torch.rand(2048, 64)).pow(2).mean()
        total += loss.item()
    return float(total)


held.measure(lambda: epoch(40), prepare=lambda: epoch(1))
