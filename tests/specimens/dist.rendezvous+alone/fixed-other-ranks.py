"""Both ranks are started."""

import datetime

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2, timeout=datetime.timedelta(seconds=30))
    total = torch.ones(1)
    dist.all_reduce(total)
    print(f"total {int(total)}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    mp.start_processes(worker, (port,), nprocs=2, start_method="fork")
