"""A row of attention scores that is masked as a whole."""

import torch

torch.autograd.set_detect_anomaly(True)
scores = torch.rand(2, 3, requires_grad=True)
mask = torch.tensor([[False, True, True], [True, True, True]])
weights = scores.masked_fill(mask, float("-inf")).softmax(dim=-1)
weights.sum().backward()
print("gradient", torch.isfinite(scores.grad).all().item())
