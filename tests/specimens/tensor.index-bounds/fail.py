"""Labels count from 1, rows from 0."""

import torch

rows = torch.rand(10, 3)
labels = torch.tensor([1, 5, 10])
print("rows", tuple(rows[labels].shape))
