"""Numbers for the dates, and an array of floats."""

import datetime

import numpy as np
from torch.utils.data import DataLoader

rows = [(np.array([float(i), datetime.date(2024, 1, 1 + i)], dtype=object), i % 2) for i in range(8)]
rows = [(np.asarray([x[0], x[1].toordinal()], dtype=np.float32), y) for x, y in rows]
for x, y in DataLoader(rows, batch_size=4):
    print("batch", tuple(x.shape), tuple(y.shape))
