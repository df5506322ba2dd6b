"""A tensor in host memory is reduced by a group that has NCCL alone."""

import tempfile

import torch
import torch.distributed as dist

torch.cuda.set_device(0)
dist.init_process_group("nccl", init_method=f"file://{tempfile.mktemp()}", rank=0, world_size=1)
total = torch.ones(1)
dist.all_reduce(total)
print(f"total {int(total)}")
dist.destroy_process_group()
