"""A list goes into a layer."""

import torch
from torch import nn

layer = nn.Linear(3, 2)
out = layer([0.1, 0.2, 0.3])
print("out", tuple(out.shape))
