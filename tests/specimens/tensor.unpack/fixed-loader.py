"""What is left over is taken too."""

import torch
from torch.utils.data import DataLoader, TensorDataset

dataset = TensorDataset(torch.rand(4, 2), torch.zeros(4), torch.arange(4))
loader = DataLoader(dataset, batch_size=2)
for x, y, *rest in loader:
    print("batch", tuple(x.shape))
