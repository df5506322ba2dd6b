"""One rank of a two-rank all-reduce, started by torch.distributed.run."""

from __future__ import annotations

import datetime
import os
import time

from _protocol import Refusal, Request, main, need_torch, say, stage

SIZES = (1, 1 << 18, 1 << 22)
"""Elements of four bytes."""


def allreduce(request: Request) -> None:
    """Join, reduce and check the sums; rank 0 answers."""
    rank = int(os.environ.get("RANK", "0"))
    torch = need_torch()
    dist = torch.distributed
    if not dist.is_available():
        raise Refusal("this torch was built without torch.distributed")
    backend = str(request.get("backend") or "gloo")
    limit = datetime.timedelta(seconds=max(2.0, float(request["limit"]) * 0.6))
    if rank == 0:
        stage(f"rendezvous of two ranks over {backend}")
    dist.init_process_group(backend, timeout=limit)
    device = "cpu"
    if backend == "nccl":
        torch.cuda.set_device(rank)
        device = "cuda"
    measured = []
    for elements in SIZES:
        if rank == 0:
            stage(f"all-reduce of {elements * 4} bytes")
        if request.get("skip") and rank == 1:
            time.sleep(float(request["limit"]))
        tensor = torch.full((elements,), float(rank + 1), device=device)
        started = time.perf_counter()
        dist.all_reduce(tensor)
        if device == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - started
        wanted = dist.get_world_size() * (dist.get_world_size() + 1) / 2
        if float(tensor[0]) != wanted or float(tensor[-1]) != wanted:
            raise Refusal(f"the all-reduce of {elements * 4} bytes gave {float(tensor[0])} where {wanted} is right")
        measured.append({"bytes": elements * 4, "seconds": round(seconds, 6), "bytes_per_second": round(elements * 4 / max(seconds, 1e-9))})
    if rank == 0:
        say(world=dist.get_world_size(), backend=backend, measured=measured, done=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(allreduce)
