"""Values in half precision are written into a buffer in float32."""

import torch

out = torch.zeros(8, 4)
values = torch.rand(3, 4, dtype=torch.float16)
out[torch.tensor([1, 3, 5])] = values
print("out", out.dtype)
