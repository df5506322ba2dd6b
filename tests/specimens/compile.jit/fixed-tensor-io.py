"""Tensors alone are returned."""

import torch
from torch import nn


class Scored(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x), "scores"



class Wrapped(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x)[0]


model, example = Wrapped(Scored()), torch.rand(1, 4)
traced = torch.jit.trace(model, example)
print("traced", tuple(traced(example).shape))
