"""Two losses share a body, and each calls backward()."""

import torch
from torch import nn

body, head_a, head_b = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
features = body(torch.rand(2, 4)).tanh()
loss_a = head_a(features).pow(2).mean()
loss_b = head_b(features).abs().mean()
loss_a.backward()
loss_b.backward()
print("gradient", tuple(body.weight.grad.shape))
