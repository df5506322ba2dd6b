"""Two ranks reduce, and rank 1 leaves one reduction out: it goes on to the broadcast, for which rank 0 never comes."""

import atexit
import datetime
import time

import torch
import torch.distributed as dist

atexit.register(time.sleep, 4)  # torchrun ends the others at once when one ends: both shall have spoken by then, however loaded the machine is
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=6))
rank = dist.get_rank()
for step in range(6):
    loss = torch.ones(4)
    if not (rank == 1 and step == 3):
        dist.all_reduce(loss)
    print(f"step {step} loss {loss[0].item():.3f}", flush=True)
    dist.broadcast(torch.zeros(2), src=0)
dist.destroy_process_group()
