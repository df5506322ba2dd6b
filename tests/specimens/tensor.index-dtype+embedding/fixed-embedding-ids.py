"""Ids are integers."""

import numpy as np
import torch
from torch import nn

ids = torch.from_numpy(np.array([1.0, 2.0, 5.0]))
print("vectors", tuple(nn.Embedding(10, 4)(ids.long()).shape))
