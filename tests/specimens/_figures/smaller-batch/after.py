"""The same step in two halves, whose gradients add up."""

import held
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(128, 256), *[nn.Sequential(nn.Linear(256, 256), nn.GELU()) for _ in range(12)], nn.Linear(256, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.rand(8192, 128), torch.rand(8192, 1)


def step(x, y):
    optimizer.zero_grad(set_to_none=True)
    for half_x, half_y in zip(x.chunk(2), y.chunk(2)):
        loss = nn.functional.mse_loss(model(half_x), half_y) / 2
        loss.backward()
    optimizer.step()


held.measure(lambda: step(x, y), prepare=lambda: step(x[:8], y[:8]))
