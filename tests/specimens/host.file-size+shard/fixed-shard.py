"""Each layer has a file of its own."""

import resource

from safetensors.torch import save_file
from torch import nn

resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
model = nn.Sequential(*[nn.Linear(256, 256) for _ in range(4)])
for i, layer in enumerate(model):
    save_file(layer.state_dict(), f"model-{i}.safetensors")
print("saved", len(model.state_dict()), "tensors")
