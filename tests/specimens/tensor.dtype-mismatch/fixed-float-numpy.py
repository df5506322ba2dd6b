"""The array becomes float32."""

import numpy as np
import torch
from torch import nn

model = nn.Linear(4, 2)
array = np.random.rand(8, 4)
x = torch.from_numpy(array.astype("float32"))
print("out", model(x).dtype)
