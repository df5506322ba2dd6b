"""FSDP around a model whose parameters have two types."""

import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("gloo", init_method=f"file://{tempfile.mktemp()}", rank=0, world_size=1)
model = nn.Sequential(nn.Linear(4, 4).to(torch.bfloat16), nn.Linear(4, 2))
sharded = FSDP(model, device_id=torch.device("cpu"))
print("parameters", sum(p.numel() for p in sharded.parameters()))
dist.destroy_process_group()
