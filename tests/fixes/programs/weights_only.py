"""A checkpoint with more than tensors in it."""

import argparse

import torch

torch.save({"args": argparse.Namespace(lr=0.1), "step": 3}, "own.pt")
state = torch.load("own.pt")
print("step", state["step"])
