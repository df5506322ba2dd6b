"""An activation is changed in place after tanh has saved it."""

import torch
from torch import nn

layer = nn.Linear(4, 4)
hidden = layer(torch.rand(2, 4)).tanh()
hidden += 1
hidden.sum().backward()
print("gradient", tuple(layer.weight.grad.shape))
