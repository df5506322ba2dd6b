"""Inputs of many sizes cut the reserve into pieces, and none of the holes is large enough."""

import torch

card = torch.cuda.mem_get_info()[1]


def share(part):
    return torch.empty(int(part * card), dtype=torch.uint8, device="cuda")


largest = share(0.72)  # the longest sequence comes first
del largest
short = [share(0.012) for step in range(60)]
kept = short[::2]  # every second one is still needed
del short
longer = share(0.3)
print("share of the card", round(longer.numel() / card, 2))
