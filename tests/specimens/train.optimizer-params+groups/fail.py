"""The head's parameters stand in both groups."""

import torch
from torch import nn

model = nn.ModuleDict({"body": nn.Linear(4, 8), "head": nn.Linear(8, 1)})
optimizer = torch.optim.SGD(
    [{"params": model["head"].parameters(), "lr": 1e-3}, {"params": model.parameters(), "lr": 1e-4}],
)
print("groups", len(optimizer.param_groups))
