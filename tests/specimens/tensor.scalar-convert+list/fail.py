"""A list indexed by a tensor."""

import torch

names = ["cat", "dog", "bird"]
order = torch.tensor([0.1, 0.7, 0.2]).topk(2).indices
print("names", names[order])
