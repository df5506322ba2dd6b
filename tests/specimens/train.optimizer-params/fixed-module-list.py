"""A ModuleList."""

import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in sizes])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


model = Stack([(4, 8), (8, 1)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
print("parameters", len(list(model.parameters())))
