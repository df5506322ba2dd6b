"""A step that stores the activations of sixteen blocks."""

import held
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        return x + self.layers(x)


blocks = nn.ModuleList([Block(256) for _ in range(16)])
x = torch.rand(4096, 256)


def step(x):
    for block in blocks:
        x = block(x)
    x.pow(2).mean().backward()


held.measure(lambda: step(x), prepare=lambda: step(x[:8]))
