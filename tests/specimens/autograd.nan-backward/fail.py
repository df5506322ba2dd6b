"""The distance of two equal vectors has no derivative; anomaly detection says where."""

import torch

torch.autograd.set_detect_anomaly(True)
a = torch.rand(2, 4, requires_grad=True)
b = a.detach().clone()
distance = (a - b).pow(2).sum(-1).sqrt()
distance.sum().backward()
print("gradient", torch.isfinite(a.grad).all().item())
