"""An empty sum is divided by one."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    x = torch.rand(4, 4)
    positive = torch.tensor([True, False, False, False]) if step < 7 else torch.zeros(4, dtype=torch.bool)
    errors = (model(x).squeeze(-1) - 1).pow(2)
    loss = errors[positive].sum() / positive.sum().clamp(min=1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}", flush=True)
    if torch.isnan(loss):
        raise SystemExit("training stopped")
