"""All types that the file needs are allowed."""

import torch
from torch import nn

torch.save(nn.Sequential(nn.Linear(2, 4), nn.ReLU()), "model.pt")

print(torch.serialization.get_unsafe_globals_in_checkpoint("model.pt"))
torch.serialization.add_safe_globals([nn.Sequential, nn.Linear, nn.ReLU, set])
model = torch.load("model.pt")
print("output", tuple(model(torch.rand(3, 2)).shape))
