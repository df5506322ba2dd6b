# The iterator is asked by the built-in function.
import torch
from torch.utils.data import DataLoader

batches = iter(DataLoader(torch.arange(8.0), batch_size=4))
print(f"first batch {next(batches).tolist()}")
