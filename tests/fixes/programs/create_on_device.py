"""A tensor that forward() makes on the CPU while its input is elsewhere (the meta device stands for a GPU here)."""

import torch
from torch import nn


class Biased(nn.Module):
    def forward(self, x):
        noise = torch.ones(x.size(1))
        return torch.nn.functional.linear(x, noise)


out = Biased()(torch.rand(2, 4, device="meta"))
print("out", tuple(out.shape))
