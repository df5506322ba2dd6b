"""NumPy's scalar, its dtype and the function that rebuilds it are allowed."""

import numpy as np
import torch
from torch import nn

model = nn.Linear(2, 4)
best = np.mean([0.5, 0.75])
torch.save({"model": model.state_dict(), "best": best}, "best.pt")

torch.serialization.add_safe_globals([np._core.multiarray.scalar, np.dtype, np.dtypes.Float64DType])
checkpoint = torch.load("best.pt", map_location="cpu")
model.load_state_dict(checkpoint["model"])
print(f"best {checkpoint['best']:.3f}")
