"""Two tensors compared in an if."""

import torch

predicted, labels = torch.tensor([1, 2, 3]), torch.tensor([1, 2, 3])
if predicted == labels:
    print("all right")
