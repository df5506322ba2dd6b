"""Raw logits go into the loss that applies the sigmoid itself."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1, device="cuda")
criterion = nn.BCEWithLogitsLoss()
logits = model(torch.rand(16, 4, device="cuda") * 8)
loss = criterion(logits, torch.ones(16, 1, device="cuda"))
loss.backward()
print("loss is finite:", bool(loss.isfinite()))
