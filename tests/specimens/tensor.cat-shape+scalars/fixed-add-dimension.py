"""Numbers are stacked."""

import torch

losses = [torch.rand(4).mean() for _ in range(3)]
print("mean", torch.stack(losses).mean().dim())
