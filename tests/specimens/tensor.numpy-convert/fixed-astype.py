"""The array becomes float32."""

import numpy as np
import torch

rows = np.array([[1.0, "2.5"], [3.0, "4.5"]], dtype=object)
x = torch.from_numpy(rows.astype("float32"))
print("x", tuple(x.shape))
