"""Raw logits go into a loss that wants probabilities."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1, device="cuda")
criterion = nn.BCELoss()
logits = model(torch.rand(16, 4, device="cuda") * 8)
loss = criterion(logits, torch.ones(16, 1, device="cuda"))
loss.backward()
print("loss is finite:", bool(loss.isfinite()))
