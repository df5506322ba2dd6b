"""Traced with an example."""

import torch
from torch import nn


class Scaled(nn.Module):
    def forward(self, x, *factors):
        for factor in factors:
            x = x * factor
        return x


model = Scaled()
scripted = torch.jit.trace(model.eval(), torch.rand(2), strict=False)
print("out", tuple(scripted(torch.rand(2)).shape))
