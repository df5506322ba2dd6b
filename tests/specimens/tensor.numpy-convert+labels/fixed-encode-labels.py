"""Each word becomes a number."""

import torch

labels = ["cat", "dog", "cat"]
classes = sorted(set(labels))
y = torch.tensor([classes.index(label) for label in labels])
print("y", tuple(y.shape))
