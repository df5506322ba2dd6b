"""The model is on the GPU, and its batch is not."""

import torch

model = torch.nn.Linear(4, 2).to("cuda")
x = torch.rand(3, 4)
out = model(x)
print("out", tuple(out.shape))
