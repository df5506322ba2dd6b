"""The labels start at 0."""

import torch

labels = torch.tensor([1, 2, 3, 1])
labels = labels - labels.min()
print("one-hot", tuple(torch.nn.functional.one_hot(labels, num_classes=3).shape))
