# torch.compile was told to generate Triton's code for the CPU too, and a CPU build of torch comes without Triton.
import torch
import torch._inductor.config

torch._inductor.config.cpu_backend = "triton"


@torch.compile
def scaled(values):
    return torch.tanh(values) * 2


print(f"shape {tuple(scaled(torch.ones(4)).shape)}")
