"""A mesh of one rank, in a world of one."""

from torch.distributed import destroy_process_group
from torch.distributed.device_mesh import init_device_mesh

mesh = init_device_mesh("cpu", (1,), mesh_dim_names=("tp",))
print("ranks", mesh.size(), flush=True)
destroy_process_group()
