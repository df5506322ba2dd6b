"""The weights go into one file, and a file may have 600 kB."""

import resource

from safetensors.torch import save_file
from torch import nn

resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
model = nn.Sequential(*[nn.Linear(256, 256) for _ in range(4)])
save_file(model.state_dict(), "model.safetensors")
print("saved", len(model.state_dict()), "tensors")
