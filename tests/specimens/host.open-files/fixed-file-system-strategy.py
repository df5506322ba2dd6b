"""Tensors are shared by file name."""

import resource

import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, TensorDataset

mp.set_sharing_strategy("file_system")
resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))  # what the shell gives
kept = []
for (labels,) in DataLoader(TensorDataset(torch.arange(1000)), batch_size=10, num_workers=1):
    kept.append(labels)
print("kept", len(kept))
