"""A sample without a single step."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

batch, lengths = torch.rand(3, 5, 4), torch.tensor([5, 3, 0])
packed = pack_padded_sequence(batch, lengths, batch_first=True)
print("steps", nn.GRU(4, 8, batch_first=True)(packed)[0].data.shape[0])
