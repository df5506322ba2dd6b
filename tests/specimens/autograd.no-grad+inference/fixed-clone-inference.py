"""A clone outside of inference mode is a normal tensor."""

import torch
from torch import nn

encoder, head = nn.Linear(4, 8), nn.Linear(8, 1)
with torch.inference_mode():
    features = encoder(torch.rand(3, 4))
loss = head(features.clone()).pow(2).mean()
loss.backward()
print("loss", loss.dim())
