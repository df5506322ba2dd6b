"""weight_norm recomputes the weight in each forward pass, and the model is copied for averaging."""

import copy

import torch
from torch import nn
from torch.nn.utils import weight_norm

model = nn.Sequential(weight_norm(nn.Linear(4, 2)))
model(torch.rand(3, 4))
average = copy.deepcopy(model).eval()
print("copied", average[0].weight.shape[0])
