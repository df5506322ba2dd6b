# Written for NumPy 1.
import numpy as np

losses = np.array([0.5, np.Inf], dtype=np.float_)
print(f"finite {np.isfinite(losses).sum()}")
