"""A copy lies in order."""

import numpy as np
import torch

image = np.random.rand(8, 8)[:, ::-1]
x = torch.from_numpy(image.copy())
print("x", tuple(x.shape))
