"""The card keeps a tenth free before the first matrix product makes cuBLAS's handle."""

import torch

a = torch.ones(8, 8, device="cuda")
cache, size = [], int(0.9 * torch.cuda.mem_get_info()[0])
cache.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
out = a @ a
print("out", int(out.sum()))
