"""A column of predictions minus a row of targets: a matrix of terabytes, by accident."""

import torch

samples = 4_000_000
pred = torch.rand(samples, 1, device="cuda")
target = torch.rand(samples, device="cuda")
loss = (pred - target).pow(2).mean()
print("loss is finite:", bool(loss.isfinite()))
