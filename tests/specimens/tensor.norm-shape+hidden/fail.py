"""A hidden state made for a full batch meets the last, smaller one."""

import torch
from torch import nn

rnn = nn.GRU(4, 8, num_layers=2, batch_first=True)
h0 = torch.zeros(2, 8, 8)
for size in (8, 8, 3):
    x = torch.rand(size, 5, 4)
    out, _ = rnn(x, h0)
print("out", tuple(out.shape))
