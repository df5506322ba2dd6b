"""What the file holds is loaded, and the head is trained."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 8)
        self.head = nn.Linear(8, 2)


torch.save({name: value for name, value in Net().state_dict().items() if name.startswith("encoder")}, "pretrained.pt")
model = Net()
state = torch.load("pretrained.pt", map_location="cpu", weights_only=True)
report = model.load_state_dict(state, strict=False)
print("to be trained", report.missing_keys, report.unexpected_keys)
print("encoder loaded", bool((model.encoder.weight == state["encoder.weight"]).all()))
