"""A table with a column of dates: its rows are arrays of objects."""

import datetime

import numpy as np
from torch.utils.data import DataLoader

rows = [(np.array([float(i), datetime.date(2024, 1, 1 + i)], dtype=object), i % 2) for i in range(8)]
for x, y in DataLoader(rows, batch_size=4):
    print("batch", tuple(x.shape), tuple(y.shape))
