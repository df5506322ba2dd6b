"""The mask is moved to the input's device."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode


def forward(x):
    mask = torch.ones(x.size(1))
    return (x * mask.to(x.device)).sum(dim=1)


with FakeTensorMode():
    out = forward(torch.rand(4, 8, device="cuda"))
print("out", tuple(out.shape))
