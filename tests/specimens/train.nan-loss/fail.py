"""Gradients that explode until the loss is nan."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = 100 * torch.rand(64, 4), 100 * torch.rand(64, 1)
for epoch in range(60):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    if not torch.isfinite(loss):
        raise SystemExit("training stopped: the loss is not finite")
