"""The number itself."""

import torch

loss = torch.rand(4).mean()
total = 0.0
total += loss.item()
print("total", total >= 0)
