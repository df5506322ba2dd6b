"""Both sides are computed, and one is chosen."""

import torch


def step(x):
    return torch.where(x.sum() > 0, x + 1, x - 1)


compiled = torch.compile(step, backend="eager", fullgraph=True)
print("out", tuple(compiled(torch.ones(3)).shape))
