"""A whole-graph compile meets a branch on a tensor's value."""

import torch


def step(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


compiled = torch.compile(step, backend="eager", fullgraph=True)
print("out", tuple(compiled(torch.ones(3)).shape))
