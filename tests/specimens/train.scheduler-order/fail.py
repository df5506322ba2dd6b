"""The scheduler steps before the optimizer: a warning in a run that ends well."""

import torch

parameter = torch.nn.Parameter(torch.rand(2))
optimizer = torch.optim.SGD([parameter], lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
for step in range(2):
    scheduler.step()
    optimizer.zero_grad()
    parameter.sum().backward()
    optimizer.step()
print("steps 2")
