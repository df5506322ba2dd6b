"""The lowest number that the type has."""

import torch

scores = torch.rand(2, 4, 4, dtype=torch.float16)
mask = torch.ones(4, 4, dtype=torch.bool).triu(1)
scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
print("scores", scores.dtype)
