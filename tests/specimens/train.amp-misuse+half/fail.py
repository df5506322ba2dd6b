"""A GradScaler over parameters in float16."""

import torch
from torch import nn

model = nn.Linear(4, 1).half()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
loss = model(torch.rand(8, 4, dtype=next(model.parameters()).dtype)).pow(2).mean()
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
print("steps", 1)
