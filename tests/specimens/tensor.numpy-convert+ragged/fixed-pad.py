"""The short ones are padded."""

import torch

rows = [[1, 2, 3], [4, 5]]
x = torch.nn.utils.rnn.pad_sequence([torch.as_tensor(r) for r in rows], batch_first=True)
print("x", tuple(x.shape))
