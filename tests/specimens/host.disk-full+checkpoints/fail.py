"""A checkpoint after every epoch, onto a disk that takes four of them."""

import torch
from torch import nn

model = nn.Linear(256, 256)
for epoch in range(8):
    torch.save(model.state_dict(), f"disk/checkpoint-{epoch}.pt")
print("last", epoch)
