"""Half precision in an operation that the CPU has for float32 alone."""

import torch

matrix = torch.eye(3, dtype=torch.float16)
print("inverse", tuple(torch.linalg.inv(matrix).shape))
