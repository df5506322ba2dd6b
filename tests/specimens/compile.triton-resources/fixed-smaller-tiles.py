"""The tiles of a matrix product fit into a block's shared memory."""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, K, SIZE: tl.constexpr, BLOCK_K: tl.constexpr):
    row, column, k = tl.arange(0, SIZE), tl.arange(0, SIZE), tl.arange(0, BLOCK_K)
    total = tl.zeros((SIZE, SIZE), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        left = tl.load(a + row[:, None] * K + (start + k)[None, :])
        right = tl.load(b + (start + k)[:, None] * SIZE + column[None, :])
        total += tl.dot(left, right)
    tl.store(c + row[:, None] * SIZE + column[None, :], total)


size, k = 64, 1024
a = torch.ones(size, k, device="cuda", dtype=torch.float16)
b = torch.ones(k, size, device="cuda", dtype=torch.float16)
c = torch.empty(size, size, device="cuda")
matmul[(1,)](a, b, c, k, SIZE=size, BLOCK_K=64, num_stages=1, num_warps=4)
print("mean", int(c.mean()))
