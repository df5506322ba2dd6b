# The others may take over.
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

query = key = value = torch.ones(1, 2, 8, 16)
with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
    out = scaled_dot_product_attention(query, key, value, dropout_p=0.1)
print(f"attended {tuple(out.shape)}")
