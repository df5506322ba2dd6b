"""Gradients that are never cleared: with momentum the steps grow until the loss is nan."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x, y = torch.rand(64, 4), torch.rand(64, 1)
for epoch in range(3000):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    if not torch.isfinite(loss):
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
        raise SystemExit("training stopped: the loss is not finite")
