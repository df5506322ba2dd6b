"""A result with its graph goes to another process."""

import torch
import torch.multiprocessing as mp
from torch import nn

if __name__ == "__main__":
    results = mp.get_context("spawn").SimpleQueue()
    y = nn.Linear(4, 2)(torch.rand(3, 4))
    results.put(y)
    print("sent", tuple(results.get().shape))
