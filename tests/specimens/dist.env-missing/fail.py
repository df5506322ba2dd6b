"""A script for torchrun, started by python."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.ones(1)
dist.all_reduce(total)
print(f"ranks {int(total)}")
dist.destroy_process_group()
