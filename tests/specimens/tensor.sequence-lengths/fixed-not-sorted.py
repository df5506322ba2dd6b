"""Packing sorts, and puts the order back."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

batch, lengths = torch.rand(3, 5, 4), torch.tensor([2, 5, 3])
packed = pack_padded_sequence(batch, lengths.cpu(), batch_first=True, enforce_sorted=False)
out, _ = pad_packed_sequence(nn.GRU(4, 8, batch_first=True)(packed)[0], batch_first=True)
print("out", tuple(out.shape))
