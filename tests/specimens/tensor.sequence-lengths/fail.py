"""A padded batch is packed in the order in which its samples came."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

batch, lengths = torch.rand(3, 5, 4), torch.tensor([2, 5, 3])
packed = pack_padded_sequence(batch, lengths, batch_first=True)
out, _ = pad_packed_sequence(nn.GRU(4, 8, batch_first=True)(packed)[0], batch_first=True)
print("out", tuple(out.shape))
