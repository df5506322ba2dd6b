"""In bfloat16, without a GradScaler."""

import torch
from torch import nn

model = nn.Linear(4, 1).bfloat16()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.rand(8, 4, dtype=next(model.parameters()).dtype)).pow(2).mean()
loss.backward()
optimizer.step()
print("steps", 1)
