"""The layer is built for what the one before delivers."""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2048, 10))
images = torch.rand(4, 1, 32, 32)
logits = model(images)
print("logits", tuple(logits.shape))
