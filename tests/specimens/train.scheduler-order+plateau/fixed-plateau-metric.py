"""It gets the value."""

import torch

parameter = torch.nn.Parameter(torch.rand(2))
optimizer = torch.optim.SGD([parameter], lr=0.1)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
for epoch in range(2):
    loss = parameter.pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step(loss.item())
print("epochs", epoch + 1)
