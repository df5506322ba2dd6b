"""An array made of a tensor that requires grad."""

import torch
from torch import nn

model = nn.Linear(2, 1)
scores = model(torch.rand(3, 2)).numpy()
print("scores", scores.shape)
