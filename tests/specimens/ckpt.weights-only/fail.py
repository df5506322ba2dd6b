"""A training checkpoint carries its command-line arguments."""

import argparse

import torch
from torch import nn

arguments = argparse.ArgumentParser()
arguments.add_argument("--width", type=int, default=4)
model = nn.Linear(2, 4)
torch.save({"model": model.state_dict(), "args": arguments.parse_args([])}, "last.pt")

checkpoint = torch.load("last.pt")
model = nn.Linear(2, checkpoint["args"].width)
model.load_state_dict(checkpoint["model"])
print("loaded", tuple(model.weight.shape))
