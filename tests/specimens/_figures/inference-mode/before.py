"""An evaluation that records the graph."""

import held
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(128, 512), *[nn.Sequential(nn.Linear(512, 512), nn.GELU()) for _ in range(12)])
x = torch.rand(4096, 128)
held.measure(lambda: model(x).mean(), prepare=lambda: model(x[:8]))
