"""A deep model whose activations take more memory than the process may have."""

import resource

import torch
import torch._dynamo  # checkpoint() imports it at its first call: that memory is not what is measured here
from torch import nn


class Deep(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh()) for _ in range(32)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


torch.set_num_threads(1)
model = Deep()
x = torch.rand(8192, 256)
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 430 * 2**20, resource.RLIM_INFINITY))
loss = model(x).pow(2).mean()
loss.backward()
print(f"loss {loss.item():.4f}")
