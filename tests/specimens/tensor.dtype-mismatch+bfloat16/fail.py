"""Weights in bfloat16, inputs in float32."""

import torch
from torch import nn

model = nn.Linear(8, 2).to(torch.bfloat16)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
device = "cpu"
for step in range(3):
    x = torch.rand(16, 8).to(device)
    y = torch.randint(0, 2, (16,))
    optimizer.zero_grad()
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
print(f"loss {loss.item():.4f}")
