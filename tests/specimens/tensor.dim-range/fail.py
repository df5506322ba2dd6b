"""squeeze() takes the batch dimension too when one sample is left."""

import torch

for size in (4, 1):
    scores = torch.rand(size, 1, 3).squeeze()
    print("probabilities", tuple(scores.softmax(dim=1).shape))
