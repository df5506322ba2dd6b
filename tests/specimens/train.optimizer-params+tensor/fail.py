"""A single tensor in place of a list."""

import torch

parameter = torch.nn.Parameter(torch.rand(2))
optimizer = torch.optim.SGD(parameter, lr=0.1)
print("parameters", len(optimizer.param_groups[0]["params"]))
