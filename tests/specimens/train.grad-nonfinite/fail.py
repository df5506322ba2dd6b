"""A logarithm of a probability that has become zero makes gradients that are not finite, and clipping refuses them."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=500.0)
x, y = torch.rand(64, 4), torch.randint(0, 3, (64,))
for step in range(60):
    optimizer.zero_grad()
    probabilities = model(x).softmax(dim=1)
    loss = -probabilities[torch.arange(64), y].log().mean()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0, error_if_nonfinite=True)
    optimizer.step()
print("finite", torch.isfinite(loss).item())
