"""The parameters that are trained in float32."""

import torch
from torch import nn

model = nn.Linear(4, 1).half()
for p in model.parameters():
    if p.requires_grad:
        p.data = p.data.float()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
loss = model(torch.rand(8, 4, dtype=next(model.parameters()).dtype)).pow(2).mean()
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
print("steps", 1)
