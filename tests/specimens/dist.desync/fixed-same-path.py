"""Both ranks reduce the loss, and one of them prints it."""

import datetime
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, store):
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2, timeout=datetime.timedelta(seconds=30))
    loss, weights = torch.ones(1), torch.ones(3)
    dist.all_reduce(loss)
    if rank == 0:
        print(f"loss {float(loss)}", flush=True)
    dist.broadcast(weights, src=0)
    dist.destroy_process_group()


mp.start_processes(worker, (tempfile.mktemp(),), nprocs=2, start_method="fork")
