"""A step in float32."""

import held
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(256, 512), *[nn.Sequential(nn.Linear(512, 512), nn.ReLU()) for _ in range(16)], nn.Linear(512, 1))
x = torch.rand(4096, 256)


def step(x):
    model(x).pow(2).mean().backward()


held.measure(lambda: step(x), prepare=lambda: step(x[:8]))
