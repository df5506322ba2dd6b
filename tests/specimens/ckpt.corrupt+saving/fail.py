"""A run was ended amid saving; the next one is to resume."""

import os
import resource

import torch
from torch import nn


def train():
    model = nn.Linear(256, 256)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(2):
        torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, "last.pt")
        model(torch.rand(4, 256)).sum().backward()
        optimizer.step()


def run_in_a_process_that_may_write_600_kB():
    if os.fork() == 0:
        log = os.open("train.log", os.O_WRONLY | os.O_CREAT)
        os.dup2(log, 1)
        os.dup2(log, 2)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
        try:
            train()
        finally:
            os._exit(1)
    os.wait()


run_in_a_process_that_may_write_600_kB()
checkpoint = torch.load("last.pt", map_location="cpu")
print("resumed at epoch", checkpoint["epoch"])
