"""Batches that stay on the CPU while the model is elsewhere (the meta device stands for a GPU here)."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("meta")
model = nn.Linear(4, 2).to(device)
loader = DataLoader(TensorDataset(torch.rand(8, 4), torch.randint(0, 2, (8,))), batch_size=4)
for x, y in loader:
    out = model(x)
    loss = nn.functional.cross_entropy(out, y)
print("out", tuple(out.shape))
