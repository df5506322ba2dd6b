"""A model that decides by a size is exported."""

import torch
from torch import nn


class Gate(nn.Module):
    def forward(self, x):
        n = int(x.shape[1])
        if n > 3:
            return x + n
        return x - 1


program = torch.onnx.export(Gate(), (torch.ones(2, 2),), dynamo=True)
print("exported", program is not None)
