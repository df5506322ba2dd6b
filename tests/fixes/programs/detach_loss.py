"""A sum of losses that keeps the graph of every step."""

import resource

import torch
from torch import nn

torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 1))
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 250 * 2**20, resource.RLIM_INFINITY))
total = 0
for step in range(100):
    loss = model(torch.rand(4096, 64)).pow(2).mean()
    total += loss
print(f"mean loss {float(total) / 100:.4f}")
