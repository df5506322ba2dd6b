"""A mean of integers."""

import torch

counts = torch.arange(8)
print("mean", counts.mean().dim())
