"""Labels from 0 to 10, and an output for each."""

import torch
from torch import nn

labels = torch.arange(11, device="cuda")
model = nn.Linear(4, int(labels.max()) + 1, device="cuda")
loss = nn.functional.cross_entropy(model(torch.rand(11, 4, device="cuda")), labels)
loss.backward()
print("loss is finite:", bool(loss.isfinite()))
