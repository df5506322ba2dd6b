"""The shell gives more."""

import resource

import torch
from torch.utils.data import DataLoader, TensorDataset

resource.setrlimit(resource.RLIMIT_NOFILE, (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))  # what the shell gives
kept = []
for (labels,) in DataLoader(TensorDataset(torch.arange(1000)), batch_size=10, num_workers=1):
    kept.append(labels)
print("kept", len(kept))
