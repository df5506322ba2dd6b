"""The card is filled to the last megabyte before the first matrix product makes cuBLAS's handle."""

import torch

a = torch.ones(8, 8, device="cuda")
cache, size = [], torch.cuda.mem_get_info()[0]
while size >= 2 << 20:
    try:
        cache.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
    except torch.cuda.OutOfMemoryError:
        size //= 2
out = a @ a
print("out", int(out.sum()))
