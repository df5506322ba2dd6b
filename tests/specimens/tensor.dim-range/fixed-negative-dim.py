"""Counted from the end."""

import torch

for size in (4, 1):
    scores = torch.rand(size, 1, 3).squeeze()
    print("probabilities", tuple(scores.softmax(dim=-1).shape))
