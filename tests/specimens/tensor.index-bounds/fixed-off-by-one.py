"""Labels count from 0."""

import torch

rows = torch.rand(10, 3)
labels = torch.tensor([1, 5, 10]) - 1
print("rows", tuple(rows[labels].shape))
