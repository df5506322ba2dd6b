"""Sequences of different lengths."""

import torch

rows = [[1, 2, 3], [4, 5]]
x = torch.tensor(rows)
print("x", tuple(x.shape))
