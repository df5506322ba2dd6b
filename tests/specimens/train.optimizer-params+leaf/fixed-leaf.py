"""A leaf is made of it."""

import torch

x = torch.rand(4, requires_grad=True) * 2
x = x.detach().requires_grad_()
optimizer = torch.optim.SGD([x], lr=0.1)
print("parameters", len(optimizer.param_groups[0]["params"]))
