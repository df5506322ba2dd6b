"""All epochs' steps."""

import torch

epochs, batches = 2, 5
parameter = torch.nn.Parameter(torch.rand(2))
optimizer = torch.optim.SGD([parameter], lr=0.1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=epochs * batches)
for step in range(epochs * batches):
    optimizer.zero_grad()
    parameter.sum().backward()
    optimizer.step()
    scheduler.step()
print("steps", step + 1)
