"""The state is made for each batch."""

import torch
from torch import nn

rnn = nn.GRU(4, 8, num_layers=2, batch_first=True)
for size in (8, 8, 3):
    x = torch.rand(size, 5, 4)
    h0 = x.new_zeros(rnn.num_layers, x.size(0), rnn.hidden_size)
    out, _ = rnn(x, h0)
print("out", tuple(out.shape))
