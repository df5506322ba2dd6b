"""The mask is made on the input's device."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode


def forward(x):
    mask = torch.ones(x.size(1), device=x.device)
    return (x * mask).sum(dim=1)


with FakeTensorMode():
    out = forward(torch.rand(4, 8, device="cuda"))
print("out", tuple(out.shape))
