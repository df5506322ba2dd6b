"""Reentrant checkpointing runs one block twice, under DistributedDataParallel."""

import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.checkpoint import checkpoint


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.block = nn.Linear(4, 4)

    def forward(self, x):
        x = self.first(x)
        x = checkpoint(self.block, x, use_reentrant=False)
        return checkpoint(self.block, x, use_reentrant=False)


dist.init_process_group("gloo", init_method=f"file://{tempfile.mktemp()}", rank=0, world_size=1)
model = DDP(Twice())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    model(torch.rand(2, 4)).sum().backward()
    optimizer.step()
print(f"steps {step + 1}")
dist.destroy_process_group()
