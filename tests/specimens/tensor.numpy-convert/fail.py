"""Text columns make an array of objects."""

import numpy as np
import torch

rows = np.array([[1.0, "2.5"], [3.0, "4.5"]], dtype=object)
x = torch.from_numpy(rows)
print("x", tuple(x.shape))
