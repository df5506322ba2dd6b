"""The rendezvous file of a run that crashed is deleted before the next one starts."""

import datetime
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

STORE = os.path.abspath("rendezvous")


def worker(rank, crash):
    dist.init_process_group("gloo", init_method="file://" + STORE, rank=rank, world_size=2, timeout=datetime.timedelta(seconds=3))
    total = torch.ones(1)
    dist.all_reduce(total)
    if crash:
        os._exit(0)  # as a killed run: nothing is tidied up
    print("total", int(total), flush=True)
    dist.destroy_process_group()


def run(crash):
    mp.start_processes(worker, (crash,), nprocs=2, start_method="fork")


run(crash=True)
if os.path.exists(STORE):
    os.remove(STORE)
run(crash=False)
