"""The batch size is read off the tensor."""

import torch
from torch.utils.data import DataLoader, TensorDataset

train_loader = DataLoader(
    TensorDataset(torch.rand(10, 2, 2)),
    batch_size=4,
    shuffle=True,
)
for (x,) in train_loader:
    flat = x.view(x.size(0), -1)
print("flat", tuple(flat.shape))
