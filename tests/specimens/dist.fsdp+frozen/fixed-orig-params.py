"""FSDP around a model with frozen and trained parameters in one unit."""

import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("gloo", init_method=f"file://{tempfile.mktemp()}", rank=0, world_size=1)
model = nn.Sequential(nn.Linear(4, 4).requires_grad_(False), nn.Linear(4, 2))
sharded = FSDP(model, use_orig_params=True, device_id=torch.device("cpu"))
print("wrapped", type(sharded).__name__)
dist.destroy_process_group()
