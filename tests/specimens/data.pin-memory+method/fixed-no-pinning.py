"""Pinned only where there is something to copy to."""

import torch

total = 0.0
for x in torch.ones(2, 4, 8):
    if torch.cuda.is_available():
        x = x.pin_memory()
    total += x.sum().item()
print("sum", total)
