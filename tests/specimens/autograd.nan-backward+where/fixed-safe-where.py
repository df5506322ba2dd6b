"""The bad inputs are replaced before the operation."""

import torch

torch.autograd.set_detect_anomaly(True)
x = torch.tensor([-1.0, 0.0, 4.0], requires_grad=True)
safe = torch.where(x > 0, x, torch.ones_like(x))
y = torch.where(x > 0, safe.sqrt(), torch.zeros_like(x))
y.sum().backward()
print("gradient", torch.isfinite(x.grad).all().item())
