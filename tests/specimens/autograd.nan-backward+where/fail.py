"""torch.where picks the good branch, and the gradient of the bad one is nan all the same."""

import torch

torch.autograd.set_detect_anomaly(True)
x = torch.tensor([-1.0, 0.0, 4.0], requires_grad=True)
y = torch.where(x > 0, x.sqrt(), torch.zeros_like(x))
y.sum().backward()
print("gradient", torch.isfinite(x.grad).all().item())
