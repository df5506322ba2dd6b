"""Normalisation and ReLU-like activations with He initialisation."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(64, 8)
y = torch.arange(64) % 10
x[torch.arange(64), y % 8] += 2 + (y > 7)
layers = [nn.Sequential(nn.Linear(32, 32), nn.LayerNorm(32), nn.GELU()) for _ in range(6)]
model = nn.Sequential(nn.Linear(8, 32), nn.LayerNorm(32), nn.GELU(), *layers, nn.Linear(32, 10))
for layer in model.modules():
    if isinstance(layer, nn.Linear):
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(30):
    for _ in range(10):
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    accuracy = (logits.argmax(dim=1) == y).float().mean()
    norm = next(model.parameters()).grad.norm()
    print(f"epoch {epoch} loss {loss.item():.4f} accuracy {accuracy.item():.4f} grad_norm {norm.item():.2e}")
