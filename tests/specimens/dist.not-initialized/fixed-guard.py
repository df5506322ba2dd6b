"""A script for several ranks runs alone as well."""

import torch
import torch.distributed as dist


def rank():
    return dist.get_rank() if dist.is_available() and dist.is_initialized() else 0


def log(text):
    if rank() == 0:
        print(text)


model = torch.nn.Linear(4, 2)
log(f"out {tuple(model(torch.rand(3, 4)).shape)}")
