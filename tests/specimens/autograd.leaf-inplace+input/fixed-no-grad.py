"""Without recording."""

import torch

x = torch.zeros(3, requires_grad=True)
with torch.no_grad():
    x[0] = 1
y = x.pow(2).sum()
y.backward()
print("gradient", x.grad.tolist())
