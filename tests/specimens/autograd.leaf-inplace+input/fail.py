"""A tensor that requires grad is filled after it was made."""

import torch

x = torch.zeros(3, requires_grad=True)
x[0] = 1
y = x.pow(2).sum()
y.backward()
print("gradient", x.grad.tolist())
