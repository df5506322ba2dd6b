# A file of the user's has the name of the standard module that torch imports.
import torch

print(f"sum {torch.ones(3).sum().item()}")
