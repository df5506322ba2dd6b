"""The memory of a forward pass on a GPU is planned with fake tensors, and the mask stays on the CPU."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode


def forward(x):
    mask = torch.ones(x.size(1))
    return (x * mask).sum(dim=1)


with FakeTensorMode():
    out = forward(torch.rand(4, 8, device="cuda"))
print("out", tuple(out.shape))
