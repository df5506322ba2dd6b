"""A hidden state carried from step to step with its graph."""

import torch
from torch import nn

rnn = nn.GRU(4, 8, batch_first=True)
head = nn.Linear(8, 1)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
hidden = None
for step in range(3):
    x, y = torch.rand(2, 5, 4), torch.rand(2, 5, 1)
    out, hidden = rnn(x, hidden)
    loss = nn.functional.mse_loss(head(out), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
