"""A traced module returns a text beside its tensor."""

import torch
from torch import nn


class Scored(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x), "scores"


model, example = Scored(), torch.rand(1, 4)
traced = torch.jit.trace(model, example)
print("traced", tuple(traced(example).shape))
