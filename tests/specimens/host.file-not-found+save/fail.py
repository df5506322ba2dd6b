"""Nobody made the folder that the model is to be saved in."""

import torch
from torch import nn

model = nn.Linear(4, 2)
torch.save(model.state_dict(), "out/run1/model.pt")
print("saved")
