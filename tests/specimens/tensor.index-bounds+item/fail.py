"""An old tutorial's way to read a loss."""

import torch

loss = torch.rand(4).mean()
total = 0.0
total += loss[0]
print("total", total >= 0)
