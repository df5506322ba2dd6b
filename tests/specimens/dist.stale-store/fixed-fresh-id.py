"""Each run has a rendezvous file of its own."""

import datetime
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

STORE = os.path.abspath("rendezvous-")


def worker(rank, name, crash):
    dist.init_process_group("gloo", init_method="file://" + STORE + name, rank=rank, world_size=2, timeout=datetime.timedelta(seconds=3))
    total = torch.ones(1)
    dist.all_reduce(total)
    if crash:
        os._exit(0)  # as a killed run: nothing is tidied up
    print("total", int(total), flush=True)
    dist.destroy_process_group()


def run(name, crash):
    mp.start_processes(worker, (name, crash), nprocs=2, start_method="fork")


run("1", crash=True)
run("2", crash=False)
