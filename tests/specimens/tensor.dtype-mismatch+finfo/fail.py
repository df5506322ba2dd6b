"""A mask value that half precision does not hold."""

import torch

scores = torch.rand(2, 4, 4, dtype=torch.float16)
mask = torch.ones(4, 4, dtype=torch.bool).triu(1)
scores = scores.masked_fill(mask, -1e9)
print("scores", scores.dtype)
