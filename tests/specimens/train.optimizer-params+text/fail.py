"""A learning rate that YAML reads as text."""

import torch

settings = {"lr": "1e-3"}
parameter = torch.nn.Parameter(torch.rand(2))
optimizer = torch.optim.SGD([parameter], lr=settings["lr"])
print("lr", optimizer.param_groups[0]["lr"])
