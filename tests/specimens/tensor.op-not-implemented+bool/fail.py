"""1 - mask of a boolean mask."""

import torch

mask = torch.tensor([True, False])
print("rest", (1 - mask).tolist())
