"""The parametrization form keeps no result."""

import copy

import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

model = nn.Sequential(weight_norm(nn.Linear(4, 2)))
model(torch.rand(3, 4))
average = copy.deepcopy(model).eval()
print("copied", average[0].weight.shape[0])
