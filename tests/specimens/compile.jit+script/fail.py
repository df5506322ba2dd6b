"""Scripting does not know a keyword-only argument."""

import torch
from torch import nn


class Scaled(nn.Module):
    def forward(self, x, *factors):
        for factor in factors:
            x = x * factor
        return x


model = Scaled()
scripted = torch.jit.script(model)
print("out", tuple(scripted(torch.rand(2)).shape))
