"""The optimizer has its state before the scheduler is made."""

import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
torch.save({"optimizer": optimizer.state_dict(), "epoch": 4}, "last.pt")

blob = torch.load("last.pt", weights_only=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.load_state_dict(blob["optimizer"])
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, last_epoch=blob["epoch"])
print("resumed at", scheduler.last_epoch)
