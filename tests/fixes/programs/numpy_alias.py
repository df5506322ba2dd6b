"""A name that NumPy has removed."""

import numpy as np

table = np.zeros((2, 2), dtype=np.float)  # as in old tutorials
mask = table.astype(np.bool)
print("sum", table.sum(), mask.any(), np.inf)
