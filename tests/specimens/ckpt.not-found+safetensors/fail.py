"""Weights that safetensors does not find: its message has no number and no quotes."""

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

Path("out/checkpoint-500").mkdir(parents=True)
save_file({"weight": torch.rand(4, 2)}, "out/checkpoint-500/model.safetensors")
state = load_file("out/model.safetensors")
print("weights", tuple(state["weight"].shape))
