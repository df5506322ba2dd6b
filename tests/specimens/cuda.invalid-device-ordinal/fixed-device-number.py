"""A GPU is chosen by a number that this machine has."""

import torch

torch.cuda.set_device(0)
print("sum", int(torch.ones(3, device="cuda").sum()))
