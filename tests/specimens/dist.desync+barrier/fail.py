"""One rank skips a barrier that the others wait at."""

import datetime
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, store):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    for step in range(2):
        if rank == 0 or step == 0:  # rank 1 believes that it has nothing to evaluate
            dist.monitored_barrier(timeout=datetime.timedelta(seconds=1))
    print(f"rank {rank} is done", flush=True)
    time.sleep(20)


mp.start_processes(worker, (tempfile.mktemp(),), nprocs=2, start_method="fork")
