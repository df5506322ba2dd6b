"""A mirrored image has a negative stride."""

import numpy as np
import torch

image = np.random.rand(8, 8)[:, ::-1]
x = torch.from_numpy(image)
print("x", tuple(x.shape))
