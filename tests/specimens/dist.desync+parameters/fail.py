"""Each rank sizes its head by the classes that its own shard has."""

import datetime
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

LABELS = [[0, 1, 2, 1], [0, 1, 1, 0]]


def worker(rank, store):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2, timeout=datetime.timedelta(seconds=30))
    classes = max(LABELS[rank]) + 1
    model = DDP(nn.Linear(4, classes))
    nn.functional.cross_entropy(model(torch.rand(4, 4)), torch.tensor(LABELS[rank])).backward()
    print(f"classes {classes}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


mp.start_processes(worker, (tempfile.mktemp(),), nprocs=2, start_method="fork")
