# A loop as tutorials wrote it for Python 2 and the first releases of PyTorch.
import torch
from torch.utils.data import DataLoader

batches = iter(DataLoader(torch.arange(8.0), batch_size=4))
print(f"first batch {batches.next().tolist()}")
