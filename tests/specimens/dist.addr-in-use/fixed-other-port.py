"""The port of the store is held by a process that an earlier run left behind."""

import multiprocessing

import torch
import torch.distributed as dist


def earlier_run(pipe):
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    pipe.send(store.port)
    pipe.recv()


here, there = multiprocessing.Pipe()
leftover = multiprocessing.get_context("fork").Process(target=earlier_run, args=(there,), daemon=True)
leftover.start()
taken = here.recv()
port = 0  # any that is free

dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=0, world_size=1)
total = torch.ones(1)
dist.all_reduce(total)
print(f"total {int(total)}")
dist.destroy_process_group()
