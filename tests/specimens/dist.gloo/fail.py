"""Rank 0 needs longer for its first batch than the others wait."""

import datetime
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, store):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2, timeout=datetime.timedelta(seconds=2))
    if rank == 0:
        time.sleep(4)  # reads its shard
    total = torch.ones(1)
    dist.all_reduce(total)
    print(f"total {int(total)}", flush=True)
    dist.destroy_process_group()


mp.start_processes(worker, (tempfile.mktemp(),), nprocs=2, start_method="fork")
