"""A classifier made for 28 × 28 images meets 32 × 32 ones."""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 14 * 14, 10))
images = torch.rand(4, 1, 32, 32)
logits = model(images)
print("logits", tuple(logits.shape))
