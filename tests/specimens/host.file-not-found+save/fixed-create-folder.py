"""The folder is made first."""

import os

import torch
from torch import nn

model = nn.Linear(4, 2)
os.makedirs("out/run1", exist_ok=True)
torch.save(model.state_dict(), "out/run1/model.pt")
print("saved")
