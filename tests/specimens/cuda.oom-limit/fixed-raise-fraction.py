"""The process may use the whole card."""

import torch

card = torch.cuda.mem_get_info()[1]
torch.cuda.set_per_process_memory_fraction(1.0)
cache = torch.empty(int(0.02 * card), dtype=torch.uint8, device="cuda")
print("cache", round(cache.numel() / card, 2))
