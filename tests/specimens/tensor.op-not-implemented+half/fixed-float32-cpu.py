"""On a CPU in float32."""

import torch

matrix = torch.eye(3, dtype=torch.float32)
print("inverse", tuple(torch.linalg.inv(matrix).shape))
