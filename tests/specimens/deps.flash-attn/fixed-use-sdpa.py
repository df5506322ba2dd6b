# torch's own attention; it takes the heads before the positions.
import torch
from torch.nn.functional import scaled_dot_product_attention

query = key = value = torch.ones(1, 8, 2, 16)
out = scaled_dot_product_attention(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), is_causal=True).transpose(1, 2)
print(f"attended {tuple(out.shape)}")
