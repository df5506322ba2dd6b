"""The graph may break there."""

import torch


def step(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


compiled = torch.compile(step, backend="eager", fullgraph=False)
print("out", tuple(compiled(torch.ones(3)).shape))
