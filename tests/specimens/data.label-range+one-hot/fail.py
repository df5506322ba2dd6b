"""Labels from 1 to 3 for three columns."""

import torch

labels = torch.tensor([1, 2, 3, 1])
print("one-hot", tuple(torch.nn.functional.one_hot(labels, num_classes=3).shape))
