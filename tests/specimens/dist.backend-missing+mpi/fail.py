"""MPI is asked for, and torch from a wheel has none."""

import tempfile

import torch
import torch.distributed as dist

with tempfile.TemporaryDirectory() as folder:
    dist.init_process_group("mpi", init_method=f"file://{folder}/store", rank=0, world_size=1)
    total = torch.ones(1)
    dist.all_reduce(total)
    print(f"total {int(total)}")
    dist.destroy_process_group()
