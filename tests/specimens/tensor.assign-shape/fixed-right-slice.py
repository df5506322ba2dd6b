"""The slice is as long as the batch."""

import torch

features = torch.zeros(24, 4)
for start in range(0, 20, 8):
    batch = torch.rand(min(8, 20 - start), 4)
    features[start : start + batch.shape[0]] = batch
print("features", tuple(features.shape))
