"""NCCL is asked for, and this build of torch has none."""

import tempfile

import torch
import torch.distributed as dist

with tempfile.TemporaryDirectory() as folder:
    backend = "nccl" if dist.is_nccl_available() and torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, init_method=f"file://{folder}/store", rank=0, world_size=1)
    total = torch.ones(1)
    dist.all_reduce(total)
    print(f"total {int(total)}")
    dist.destroy_process_group()
