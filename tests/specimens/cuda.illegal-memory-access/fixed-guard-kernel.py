"""A kernel of one's own leaves out what is behind the end of its output."""

import torch
import triton
import triton.language as tl


@triton.jit
def scatter(out, index, n, length, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(index + offsets, mask=offsets < n)
    tl.store(out + place, 1.0, mask=(offsets < n) & (place >= 0) & (place < length))


out = torch.zeros(64, device="cuda")
index = torch.arange(64, device="cuda")
index[-1] = 1 << 45  # what a broken file gave
scatter[(1,)](out, index, 64, out.numel(), BLOCK=64)
print("written", int(out.sum()))
