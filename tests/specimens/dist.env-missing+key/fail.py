"""A script for torchrun reads its local rank, and is started by python."""

import os

import torch

local_rank = int(os.environ["LOCAL_RANK"])
device = torch.device(f"cuda:{local_rank}" if torch.cuda.is_available() else "cpu")
print(f"local rank {local_rank} of {os.environ['WORLD_SIZE']}")
