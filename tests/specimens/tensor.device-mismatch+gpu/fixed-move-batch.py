"""The model is on the GPU, and so is its batch."""

import torch

model = torch.nn.Linear(4, 2).to("cuda")
x = torch.rand(3, 4)
device = next(model.parameters()).device
x = x.to(device)
out = model(x)
print("out", tuple(out.shape))
