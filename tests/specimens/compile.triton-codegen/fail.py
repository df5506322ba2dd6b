"""A kernel with fp8 weights is compiled ahead of time for a card that has no fp8."""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def widen(source, out, n: tl.constexpr):
    place = tl.arange(0, n)
    tl.store(out + place, tl.load(source + place).to(tl.float32))


program = ASTSource(widen, signature={"source": "*fp8e4nv", "out": "*fp32", "n": "constexpr"}, constexprs={(2,): 64})
compiled = triton.compile(program, target=GPUTarget("cuda", 75, 32))
print("compiled", compiled.name)
