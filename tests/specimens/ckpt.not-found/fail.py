"""The newest checkpoint lies one folder deeper than the program looks."""

from pathlib import Path

import torch
from torch import nn

for step in (100, 1000):
    Path(f"runs/exp1/checkpoint-{step}").mkdir(parents=True)
    torch.save({"step": step, "model": nn.Linear(4, 2).state_dict()}, f"runs/exp1/checkpoint-{step}/model.pt")

checkpoint = torch.load("runs/exp1/model.pt", map_location="cpu")
print("resumed at step", checkpoint["step"])
