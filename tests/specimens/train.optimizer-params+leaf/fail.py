"""What is optimised is a result, not a leaf."""

import torch

x = torch.rand(4, requires_grad=True) * 2
optimizer = torch.optim.SGD([x], lr=0.1)
print("parameters", len(optimizer.param_groups[0]["params"]))
