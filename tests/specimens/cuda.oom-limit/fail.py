"""The process may use a hundredth of the card, and wants more."""

import torch

card = torch.cuda.mem_get_info()[1]
torch.cuda.set_per_process_memory_fraction(0.01)
cache = torch.empty(int(0.02 * card), dtype=torch.uint8, device="cuda")
print("cache", round(cache.numel() / card, 2))
