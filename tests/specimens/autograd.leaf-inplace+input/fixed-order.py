"""requires_grad comes last."""

import torch

x = torch.zeros(3)
x[0] = 1
x.requires_grad_(True)
y = x.pow(2).sum()
y.backward()
print("gradient", x.grad.tolist())
