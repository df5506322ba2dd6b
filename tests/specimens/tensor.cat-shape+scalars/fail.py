"""The losses of the steps are joined."""

import torch

losses = [torch.rand(4).mean() for _ in range(3)]
print("mean", torch.cat(losses).mean().dim())
