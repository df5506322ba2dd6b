"""A boolean mask is turned around by ~."""

import torch

mask = torch.tensor([True, False])
print("rest", (~mask).tolist())
