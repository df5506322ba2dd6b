"""Both ranks take GPU 0, and speak through Gloo."""

import torch
import torch.distributed as dist

torch.cuda.set_device(0)
dist.init_process_group("gloo")
total = torch.ones(1, device="cuda")
dist.all_reduce(total)
print(f"ranks {int(total)}", flush=True)
dist.destroy_process_group()
