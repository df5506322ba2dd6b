"""As many heads as divide the width."""

import torch
from torch import nn

attention = nn.MultiheadAttention(embed_dim=100, num_heads=10)
x = torch.rand(5, 2, 100)
out, _ = attention(x, x, x)
print("out", out.dim())
