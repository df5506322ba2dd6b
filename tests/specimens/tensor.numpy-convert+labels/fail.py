"""Labels in words."""

import torch

labels = ["cat", "dog", "cat"]
y = torch.tensor(labels)
print("y", tuple(y.shape))
