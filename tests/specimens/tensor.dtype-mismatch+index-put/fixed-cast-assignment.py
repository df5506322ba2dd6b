"""The values take the buffer's type."""

import torch

out = torch.zeros(8, 4)
values = torch.rand(3, 4, dtype=torch.float16)
out[torch.tensor([1, 3, 5])] = values.to(out.dtype)
print("out", out.dtype)
