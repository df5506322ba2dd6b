"""The process group of a run ends with it."""

import tempfile

import torch
import torch.distributed as dist


def train():
    dist.init_process_group("gloo", init_method=f"file://{tempfile.mktemp()}", rank=0, world_size=1)
    total = torch.ones(1)
    dist.all_reduce(total)
    dist.destroy_process_group()
    return int(total)


print("runs", train() + train())
