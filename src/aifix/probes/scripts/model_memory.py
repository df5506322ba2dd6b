"""Measure how a model's memory divides: parameters, gradients, optimizer state, activations, input; and the largest batch."""

from __future__ import annotations

import time
from typing import Any

from _protocol import Request, batch_of, build, loss_of, main, need_torch, run_model, say, stage


def model_memory(request: Request) -> None:
    """Measure at small batches, fit a line, and bisect as far as can be measured safely."""
    torch = need_torch()
    torch.manual_seed(0)
    stage("build the model {}".format(request["model"]))
    model = build(str(request["model"]))
    fixed = None
    if isinstance(model, tuple):
        model, fixed = model
    until = time.monotonic() + 0.3 * float(request["limit"])
    wanted = int(request["batch"])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device)
    if device == "cuda" and request.get("budget"):
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, int(request["budget"]) / total))
    optimizer = _optimizer(torch, model, str(request.get("optimizer") or "adam"))
    stage(f"measure a batch of {wanted}")
    whole = _measure(torch, model, fixed if fixed is not None else batch_of(torch, request, wanted, model), optimizer)
    say(batch=wanted, device=device, **whole)
    if fixed is not None:
        say(done=True)
        return
    points = {wanted: whole}
    safe = int(request.get("safe") or (1 << 62))
    for size in (1, 2, max(2, wanted // 2), wanted * 2):
        if size in points or time.monotonic() > until or _total(whole) * size / max(wanted, 1) > safe:
            continue
        stage(f"measure a batch of {size}")
        points[size] = _measure(torch, model, batch_of(torch, request, size, model), optimizer)
    fixed_bytes, per_sample = _line({size: _variable(item) for size, item in points.items()})
    steady = whole["parameters"] + whole["gradients"] + whole["optimizer"] + whole["buffers"]
    say(per_sample=round(per_sample), steady=steady, points={str(size): _total(item) for size, item in sorted(points.items())})
    budget = request.get("budget")
    if not budget:
        say(done=True)
        return
    largest = int((int(budget) - steady - fixed_bytes) // per_sample) if per_sample > 0 else 0
    say(budget=budget, largest_by_line=max(0, largest))
    measured = _bisect(lambda size: _measure(torch, model, batch_of(torch, request, size, model), optimizer), points, int(budget), safe, until)
    say(largest_measured=measured["fits"], smallest_too_large=measured["fails"], done=True)


def _bisect(measure: Any, points: dict[int, dict[str, int]], budget: int, safe: int, until: float) -> dict[str, Any]:
    """Look for the largest batch by real passes, never one that the line puts above what is safe here."""
    fits = max((size for size, item in points.items() if _total(item) <= budget), default=0)
    fails = min((size for size, item in points.items() if _total(item) > budget), default=None)
    while time.monotonic() < until:
        size = fits * 2 if fails is None else (fits + fails) // 2
        if size <= fits or (fails is not None and size >= fails):
            break
        fixed_bytes, per_sample = _line({known: _total(item) for known, item in points.items()})
        if fixed_bytes + per_sample * size > safe:
            break
        stage(f"measure a batch of {size}")
        try:
            points[size] = measure(size)
        except Exception as error:
            if "out of memory" not in str(error).lower():
                raise
            fails = size
            continue
        if _total(points[size]) <= budget:
            fits = size
        else:
            fails = size
    return {"fits": fits, "fails": fails}


def _optimizer(torch: Any, model: Any, name: str) -> Any:
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    trained = [item for item in model.parameters() if item.requires_grad]
    if name == "none" or not trained:
        return None
    return kinds[name](trained, lr=0.0) if name in kinds else torch.optim.SGD(trained, lr=0.0, momentum=0.9)


def _move(torch: Any, value: Any, device: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {name: _move(torch, item, device) for name, item in value.items()}
    return type(value)(_move(torch, item, device) for item in value) if isinstance(value, (tuple, list)) else value


def _measure(torch: Any, model: Any, batch: Any, optimizer: Any) -> dict[str, int]:
    """Run forward, backward and a step of rate zero; count what is kept for backward by the tensors that autograd saves."""
    model.zero_grad(set_to_none=True)
    device = next((item.device for item in model.parameters()), torch.device("cpu"))
    batch = _move(torch, batch, device)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    owned = {item.untyped_storage().data_ptr() for item in list(model.parameters()) + list(model.buffers())}
    given = {item.untyped_storage().data_ptr() for item in _tensors(torch, batch)}
    saved: dict[int, int] = {}

    def pack(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in owned and storage.data_ptr() not in given:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = run_model(model, batch)
        loss = loss_of(torch, output)
    loss.backward()
    if optimizer is not None:
        optimizer.step()
    states = optimizer.state.values() if optimizer is not None else ()
    result = {
        "parameters": sum(item.numel() * item.element_size() for item in model.parameters()),
        "buffers": sum(item.numel() * item.element_size() for item in model.buffers()),
        "gradients": sum(item.grad.numel() * item.grad.element_size() for item in model.parameters() if item.grad is not None),
        "optimizer": sum(item.numel() * item.element_size() for state in states for item in state.values() if isinstance(item, torch.Tensor)),
        "activations": sum(saved.values()),
        "input": sum(item.numel() * item.element_size() for item in _tensors(torch, batch)),
    }
    if device.type == "cuda":
        result["peak"] = torch.cuda.max_memory_allocated()  # the allocator's own figure: temporaries and workspaces too
    model.zero_grad(set_to_none=True)
    return result


def _total(item: dict[str, int]) -> int:
    if "peak" in item:
        return item["peak"]
    return sum(item[name] for name in ("parameters", "buffers", "gradients", "optimizer", "activations", "input"))


def _variable(item: dict[str, int]) -> int:
    return item["activations"] + item["input"]


def _line(points: dict[int, int]) -> Any:
    """Fit bytes = fixed + per_sample * batch by least squares."""
    sizes = sorted(points)
    if len(sizes) < 2:
        return 0.0, points[sizes[0]] / max(1, sizes[0])
    mean = sum(sizes) / len(sizes)
    level = sum(points[size] for size in sizes) / len(sizes)
    slope = sum((size - mean) * (points[size] - level) for size in sizes) / sum((size - mean) ** 2 for size in sizes)
    return level - slope * mean, slope


def _tensors(torch: Any, value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [item for part in value.values() for item in _tensors(torch, part)]
    if isinstance(value, (tuple, list)):
        return [item for part in value for item in _tensors(torch, part)]
    return []


if __name__ == "__main__":
    main(model_memory)
