"""A GPU is chosen by a number that this machine does not have."""

import torch

torch.cuda.set_device(63)
print("sum", int(torch.ones(3, device="cuda").sum()))
