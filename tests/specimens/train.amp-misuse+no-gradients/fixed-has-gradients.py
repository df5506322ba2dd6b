"""The optimizer holds the parameters that the loss reaches."""

import torch
from torch import nn

model, head = nn.Linear(4, 1), nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
loss = model(torch.rand(8, 4)).pow(2).mean()
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
print("steps", 1)
