"""A small synchronous job, one process of it: real gloo collectives, and on one rank, at one step, the fault that FAULT names.

Environment: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT, FAULT, VICTIM, FAULT_STEP, STEPS, TIMEOUT (seconds), STAMPS (1: lines carry times),
CLOCK_AHEAD (seconds by which this node's clock is wrong), SCRATCH (a folder).
"""

import ctypes
import datetime
import faulthandler
import json
import os
import pickle
import resource
import signal
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist

SCRATCH = Path(os.environ.get("SCRATCH", "."))


def say(text):
    """Print a line, with this node's time in front where the job prints times."""
    if os.environ.get("STAMPS") == "1":
        moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=float(os.environ.get("CLOCK_AHEAD", "0")))
        text = f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03d} - INFO - {text}"
    print(text, flush=True)


def limit_memory(extra):
    """Allow this process so many more bytes than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * os.sysconf("SC_PAGE_SIZE") + extra
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def truncated_checkpoint():
    path = SCRATCH / "last.pt"
    torch.save({"weight": torch.zeros(4096)}, path)
    path.write_bytes(path.read_bytes()[:9000])
    return torch.load(path)


def wrong_keys():
    state = {"encoder.weight": torch.zeros(4, 4), "bias": torch.zeros(4)}
    torch.nn.Linear(4, 4).load_state_dict(state)


def wrong_size():
    torch.nn.Linear(8, 4).load_state_dict(torch.nn.Linear(4, 4).state_dict())


def check_loss(step):
    loss = torch.log(torch.tensor(-1.0))
    if not torch.isfinite(loss):
        raise ValueError(f"loss is nan at step {step}, stopping")


def full_disk():
    with Path("/dev/full").open("wb", buffering=0) as stream:
        stream.write(b"0" * 4096)


def file_limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
    with (SCRATCH / "optimizer.pt").open("wb", buffering=0) as stream:
        for _ in range(64):
            stream.write(b"0" * 4096)


def save_limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
    torch.save({"weight": torch.zeros(1 << 18)}, SCRATCH / "step.pt")


def tensor_memory():
    limit_memory(64 << 20)
    return torch.ones(1 << 30)


def python_memory():
    limit_memory(64 << 20)
    return bytearray(1 << 30)


def crash():
    faulthandler.enable()
    ctypes.string_at(0)


def busy():
    while True:
        time.sleep(0.05)


def decode():
    return json.loads('{"text": "unfinished')


def unpickle():
    return pickle.loads(b"\x80\x04\x95")


RAISES = {
    "index": lambda: torch.arange(8)[torch.tensor(9)],
    "embedding": lambda: torch.nn.functional.embedding(torch.tensor([50257]), torch.zeros(128, 8)),
    "matmul": lambda: torch.zeros(32, 128) @ torch.zeros(64, 10),
    "broadcast": lambda: torch.zeros(8, 3) + torch.zeros(8, 4),
    "label": lambda: torch.nn.functional.cross_entropy(torch.zeros(4, 10), torch.tensor([1, 2, 10, 3])),
    "dtype": lambda: torch.zeros(4, 4) @ torch.zeros(4, 4, dtype=torch.float64),
    "view": lambda: torch.zeros(4, 6).view(5, 5),
    "stack": lambda: torch.stack([torch.zeros(3, 224, 224), torch.zeros(1, 224, 224)]),
    "key": lambda: {"images": 1}["labels"],
    "attribute": lambda: None.shape,
    "zero": lambda: 1 / (len([]) * 1.0),
    "assert": lambda: (_ for _ in ()).throw(AssertionError("batch is empty")),
    "json": decode,
    "unpickle": unpickle,
    "file": lambda: (SCRATCH / "train-00017.tar").read_bytes(),
    "module": lambda: __import__("flash_attn_of_tomorrow"),
    "checkpoint": truncated_checkpoint,
    "keys": wrong_keys,
    "size": wrong_size,
    "nan": check_loss,
    "disk": full_disk,
    "file-limit": file_limit,
    "save-limit": save_limit,
    "memory": tensor_memory,
    "python-memory": python_memory,
    "segfault": crash,
    "abort": os.abort,
    "exit": lambda: os._exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "busy": busy,
}


def fail(name, step):
    """Do what the fault is."""
    call = RAISES[name]
    return call(step) if name == "nan" else call()


def main():
    fault, victim, at = os.environ.get("FAULT", ""), int(os.environ.get("VICTIM", "-1")), int(os.environ.get("FAULT_STEP", "3"))
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=float(os.environ.get("TIMEOUT", "5"))))
    rank, world = dist.get_rank(), dist.get_world_size()
    say(f"rank {rank} of {world} on pid {os.getpid()}")
    weight = torch.zeros(64)
    for step in range(int(os.environ.get("STEPS", "8"))):
        started = time.perf_counter()
        batch = torch.full((64,), float(step + rank))
        loaded = time.perf_counter()
        struck = rank == victim and step == at
        if struck and fault in RAISES:
            fail(fault, step)
        if struck and fault == "leave":
            break
        if not (struck and fault == "skip"):
            dist.all_reduce(batch)
        weight += batch / world
        if struck and fault == "extra":
            dist.broadcast(weight.clone(), src=rank)
        found = [torch.zeros(4) for _ in range(world)]
        if not (struck and fault == "skip-gather"):
            dist.all_gather(found, torch.full((4,), float(rank)))
        took = time.perf_counter()
        say(f"step {step} loss {1 / (step + 1):.4f} step_time {took - started:.4f}s data_time {loaded - started:.4f}s")
        if step % 3 == 2:
            if not (struck and fault == "skip-barrier"):
                dist.barrier()
            say(f"saved checkpoint at step {step}")
    say("training finished")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
    sys.exit(0)
