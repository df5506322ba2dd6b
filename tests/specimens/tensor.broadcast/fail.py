"""Weights of samples meet logits of classes."""

import torch

logits = torch.rand(8, 10)
weights = torch.rand(8)
weighted = logits * weights
print("weighted", tuple(weighted.shape))
