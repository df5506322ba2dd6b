"""The scheduler steps after the optimizer."""

import torch

parameter = torch.nn.Parameter(torch.rand(2))
optimizer = torch.optim.SGD([parameter], lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
for step in range(2):
    optimizer.zero_grad()
    parameter.sum().backward()
    optimizer.step()
    scheduler.step()
print("steps 2")
