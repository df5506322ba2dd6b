# Written before NumPy took its aliases of Python's types away.
import numpy as np

scores = np.array([0.2, 0.8]).astype(np.float)
print(f"best {scores.max():.1f}")
