"""Only the dimension that is meant."""

import torch

for size in (4, 1):
    scores = torch.rand(size, 1, 3).squeeze(1)
    print("probabilities", tuple(scores.softmax(dim=1).shape))
