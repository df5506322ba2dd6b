"""The batch size is written into a view, and the last batch is smaller."""

import torch
from torch.utils.data import DataLoader, TensorDataset

train_loader = DataLoader(
    TensorDataset(torch.rand(10, 2, 2)),
    batch_size=4,
    shuffle=True,
)
for (x,) in train_loader:
    flat = x.view(4, 4)
print("flat", tuple(flat.shape))
