"""A last batch of one sample in front of a batch norm."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

train_loader = DataLoader(
    TensorDataset(torch.rand(17, 4)),
    batch_size=8,
    shuffle=True,
)
val_loader = DataLoader(TensorDataset(torch.rand(4, 4)), batch_size=4)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))
for (x,) in train_loader:
    out = model(x)
print(f"out {tuple(out.shape)}")
