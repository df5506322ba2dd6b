"""Every rank comes to every barrier."""

import datetime
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, store):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    for step in range(2):
        dist.monitored_barrier(timeout=datetime.timedelta(seconds=30))
    print(f"rank {rank} is done", flush=True)
    dist.destroy_process_group()


mp.start_processes(worker, (tempfile.mktemp(),), nprocs=2, start_method="fork")
