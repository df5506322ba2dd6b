"""The second group has the rest."""

import torch
from torch import nn

model = nn.ModuleDict({"body": nn.Linear(4, 8), "head": nn.Linear(8, 1)})
head = list(model["head"].parameters())
ids = {id(p) for p in head}
optimizer = torch.optim.SGD(
    [{"params": head, "lr": 1e-3}, {"params": [p for p in model.parameters() if id(p) not in ids], "lr": 1e-4}],
)
print("groups", len(optimizer.param_groups))
