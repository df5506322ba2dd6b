"""The process group is made if there is none."""

import tempfile

import torch
import torch.distributed as dist


def train():
    if not dist.is_initialized():
        dist.init_process_group("gloo", init_method=f"file://{tempfile.mktemp()}", rank=0, world_size=1)
    total = torch.ones(1)
    dist.all_reduce(total)
    return int(total)


print("runs", train() + train())
