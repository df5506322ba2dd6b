"""The mean of floating-point numbers."""

import torch

counts = torch.arange(8)
print("mean", counts.float().mean().dim())
