"""Workers started by spawn, from the top level of the script."""

import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.arange(8.0))
loader = DataLoader(data, batch_size=4, num_workers=1, multiprocessing_context="spawn")
total = 0.0
for (x,) in loader:
    total += x.sum().item()
print("total", total)
