"""The weights get a dimension to meet the classes."""

import torch

logits = torch.rand(8, 10)
weights = torch.rand(8)
weighted = logits * weights.unsqueeze(-1)
print("weighted", tuple(weighted.shape))
