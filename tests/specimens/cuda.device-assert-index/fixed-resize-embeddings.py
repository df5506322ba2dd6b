"""The embedding grows to the tokenizer."""

import torch
from torch import nn

vocabulary = 104
ids = torch.tensor([[5, 17, 103]], device="cuda")
embedding = nn.Embedding(100, 8, device="cuda")
larger = nn.Embedding(vocabulary, 8, device="cuda")
with torch.no_grad():
    larger.weight[:100] = embedding.weight
embedding = larger
out = embedding(ids).sum()
print("out is finite:", bool(out.isfinite()))
