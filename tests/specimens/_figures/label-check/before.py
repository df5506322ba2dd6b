"""One label of a hundred is out of range, and an epoch draws thirty samples."""

import os

import torch
from torch import nn

torch.manual_seed(int(os.environ["RUN"]))
samples, labels = torch.rand(100, 4), torch.randint(0, 10, (100,))
labels[42] = 10
model = nn.Linear(4, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.randperm(100)[:30].split(10):
    loss = nn.functional.cross_entropy(model(samples[batch]), labels[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("epoch done")
