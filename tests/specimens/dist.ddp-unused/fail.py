"""DistributedDataParallel around a model with a branch that is not used."""

import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.used = nn.Linear(4, 1)
        self.unused = nn.Linear(4, 1)

    def forward(self, x):
        return self.used(x)


dist.init_process_group("gloo", init_method=f"file://{tempfile.mktemp()}", rank=0, world_size=1)
model = DDP(Branches())
for step in range(2):
    loss = model(torch.rand(2, 4)).sum()
    loss.backward()
print(f"loss {loss.item():.4f}", os.getpid() > 0)
dist.destroy_process_group()
