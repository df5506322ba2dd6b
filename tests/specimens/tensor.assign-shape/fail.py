"""The last batch is smaller than the slice that it goes into."""

import torch

features = torch.zeros(24, 4)
for start in range(0, 20, 8):
    batch = torch.rand(min(8, 20 - start), 4)
    features[start : start + 8] = batch
print("features", tuple(features.shape))
