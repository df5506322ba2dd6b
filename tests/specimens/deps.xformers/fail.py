# The model calls xformers' attention, and the package is not installed.
import torch
import xformers.ops as xops

query = key = value = torch.ones(1, 8, 2, 16)
print(f"attended {tuple(xops.memory_efficient_attention(query, key, value).shape)}")
