"""All elements."""

import torch

predicted, labels = torch.tensor([1, 2, 3]), torch.tensor([1, 2, 3])
if (predicted == labels).all():
    print("all right")
