"""Labels from 0 to 10, and ten outputs."""

import torch
from torch import nn

labels = torch.arange(11, device="cuda")
model = nn.Linear(4, 10, device="cuda")
loss = nn.functional.cross_entropy(model(torch.rand(11, 4, device="cuda")), labels)
loss.backward()
print("loss is finite:", bool(loss.isfinite()))
