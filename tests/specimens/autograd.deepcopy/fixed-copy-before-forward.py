"""The copy is made first."""

import copy

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(4, 4)

    def forward(self, x):
        weights = (self.query(x) @ x.T).softmax(dim=-1)
        self.last = weights
        return weights @ x


model = Attention()
average = copy.deepcopy(model).eval()
model(torch.rand(3, 4))
print("copied", average.query.weight.shape[0])
