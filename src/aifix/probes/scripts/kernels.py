"""Run a small kernel, a matrix product per dtype and a convolution on each GPU."""

from __future__ import annotations

import math
from typing import Any

from _protocol import Request, main, need_torch, say, sentence, stage


def kernels(_request: Request) -> None:
    """Answer step by step, so that the step that hangs or crashes is known."""
    torch = need_torch()
    say(version=torch.__version__, cuda=torch.version.cuda, hip=getattr(torch.version, "hip", None), built=bool(torch.version.cuda))
    stage("start CUDA")
    try:
        torch.cuda.init()
        count = torch.cuda.device_count()
    except Exception as error:
        say(available=False, reason=sentence(error))
        return
    say(available=bool(count), count=count, architectures=torch.cuda.get_arch_list(), cudnn=torch.backends.cudnn.version())
    results = []
    for index in range(count):
        device = f"cuda:{index}"
        found = {"device": index, "name": torch.cuda.get_device_name(index), "capability": list(torch.cuda.get_device_capability(index))}
        steps = found["steps"] = {}
        for name in ("kernel", "matmul float32", "matmul float16", "matmul bfloat16", "matmul float64", "convolution"):
            stage(f"{name} on GPU {index}")
            try:
                value = _work(torch, device, name)
                torch.cuda.synchronize(index)
                steps[name] = "" if math.isfinite(value) else f"gave {value}"
            except Exception as error:
                steps[name] = sentence(error)
        results.append(found)
        say(devices=results)


def _work(torch: Any, device: str, name: str) -> float:
    """Run one small piece of work and give a number of it; a wrong one is nan."""
    if name == "kernel":
        return float((torch.ones(1024, device=device) * 2).sum())
    if name == "convolution":
        layer = torch.nn.Conv2d(3, 8, 3, padding=1).to(device)
        output = layer(torch.randn(2, 3, 32, 32, device=device))
        output.square().mean().backward()
        return float(output.detach().mean())
    one = torch.eye(256, device=device, dtype=getattr(torch, name.split()[1]))
    trace = float((one @ one).float().trace())
    return trace if trace == 256 else math.nan


if __name__ == "__main__":
    main(kernels)
