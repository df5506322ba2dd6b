"""The dataset gives three values, the loop takes two."""

import torch
from torch.utils.data import DataLoader, TensorDataset

dataset = TensorDataset(torch.rand(4, 2), torch.zeros(4), torch.arange(4))
loader = DataLoader(dataset, batch_size=2)
for x, y in loader:
    print("batch", tuple(x.shape))
