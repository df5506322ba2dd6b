"""A script for several ranks makes its group first."""

import tempfile

import torch
import torch.distributed as dist


def log(text):
    if dist.get_rank() == 0:
        print(text)


dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo", init_method=f"file://{tempfile.mktemp()}", rank=0, world_size=1)
model = torch.nn.Linear(4, 2)
log(f"out {tuple(model(torch.rand(3, 4)).shape)}")
