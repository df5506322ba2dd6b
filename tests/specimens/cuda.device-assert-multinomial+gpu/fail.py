"""Activations overflow in float16, and a token is sampled from what is no probability any more."""

import torch
from torch import nn

torch.manual_seed(0)
dtype = torch.float16
hidden = 300 * torch.ones(1, 64, dtype=dtype, device="cuda")
head = nn.Linear(64, 10, dtype=dtype, device="cuda")
nn.init.constant_(head.weight, 8.0)
probabilities = head(hidden).float().softmax(dim=-1)
token = torch.multinomial(probabilities, 1)
print("token chosen:", 0 <= int(token) < 10)
