"""Measure how a model's memory divides: parameters, gradients, optimizer state, activations, input; and the largest batch."""

from __future__ import annotations

import time
from typing import Any, Callable

from _protocol import Request, batch_of, built, loss_of, main, need_torch, run_model, say, tensors_in


def model_memory(request: Request) -> None:
    """Measure at small batches, fit a line, and bisect as far as can be measured safely."""
    torch = need_torch()
    model, fixed = built(torch, request)
    examine(torch, model, fixed, request, say)


def examine(torch: Any, model: Any, fixed: Any, request: Request, tell: Callable[..., None]) -> None:
    """Measure a model.

    Args:
        torch: the module.
        model: a module of it.
        fixed: the batch to measure; None makes batches of several sizes by the request's shape, and looks for the largest.
        request: batch, shape, optimizer, budget (bytes), safe (bytes that a measurement may take), limit (seconds).
        tell: takes what is found, as it is found.

    """
    until = time.monotonic() + 0.3 * float(request["limit"])
    wanted = int(request["batch"])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device)
    if device == "cuda" and request.get("budget"):
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, int(request["budget"]) / total))
    optimizer = _optimizer(torch, model, str(request.get("optimizer") or "adam"))
    tell(stage=f"measure a batch of {wanted}")
    whole = _measure(torch, model, fixed if fixed is not None else batch_of(torch, request, wanted, model), optimizer)
    tell(batch=wanted, device=device, **whole)
    if fixed is not None:
        tell(done=True)
        return
    points = {wanted: whole}
    safe = int(request.get("safe") or (1 << 62))
    for size in (1, 2, max(2, wanted // 2), wanted * 2):
        if size in points or time.monotonic() > until or _total(whole) * size / max(wanted, 1) > safe:
            continue
        tell(stage=f"measure a batch of {size}")
        try:
            points[size] = _measure(torch, model, batch_of(torch, request, size, model), optimizer)
        except (ValueError, RuntimeError):  # batch norm wants more than one sample, and a card may be full: the other points make the line
            continue
    _, per_sample = _line({size: _total(item) for size, item in points.items()})
    steady = whole["parameters"] + whole["gradients"] + whole["optimizer"] + whole["buffers"]
    tell(per_sample=round(per_sample), steady=steady, points={str(size): _total(item) for size, item in sorted(points.items())})
    budget = request.get("budget")
    if not budget:
        tell(done=True)
        return
    largest = _by_line(points, int(budget))
    tell(budget=budget, largest_by_line=max(0, largest))
    measured = _bisect(
        lambda size: _measure(torch, model, batch_of(torch, request, size, model), optimizer), points, int(budget), safe=safe, until=until, tell=tell
    )
    tell(largest_measured=measured["fits"], smallest_too_large=measured["fails"], done=True)


def _bisect(measure: Any, points: dict[int, dict[str, int]], budget: int, *, safe: int, until: float, tell: Callable[..., None]) -> dict[str, Any]:
    """Look for the largest batch by real passes, at first where the line says, and never where it says more than is safe here."""
    fits = max((size for size, item in points.items() if _total(item) <= budget), default=0)
    fails = min((size for size, item in points.items() if _total(item) > budget), default=None)
    for turn in range(64):
        if time.monotonic() > until or (fails is not None and fails - fits <= 1):
            break
        middle = fits * 2 if fails is None else (fits + fails) // 2
        # the line and the middle take turns: the one is exact where memory grows by the sample, the other ends in any case
        size = _by_line(points, budget) if turn % 2 == 0 else middle
        size = max(fits + 1, size if fails is None else min(size, fails - 1))
        fixed_bytes, per_sample = _line({known: _total(item) for known, item in points.items()})
        if fixed_bytes + per_sample * size > safe:
            break
        tell(stage=f"measure a batch of {size}")
        try:
            points[size] = measure(size)
        except Exception as error:
            text = str(error).lower()
            if "out of memory" not in text and "allocate memory" not in text and not isinstance(error, MemoryError):
                raise
            fails = size
            continue
        if _total(points[size]) <= budget:
            fits = size
        else:
            fails = size
    return {"fits": fits, "fails": fails}


def _by_line(points: dict[int, dict[str, int]], budget: int) -> int:
    """Give the largest batch that fits by the fitted line."""
    fixed, per_sample = _line({size: _total(item) for size, item in points.items()})
    return max(0, int((budget - fixed) // per_sample)) if per_sample > 0 else 0


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
    given = {item.untyped_storage().data_ptr() for item in tensors_in(torch, batch)}
    saved: dict[int, int] = {}

    def pack(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in owned and storage.data_ptr() not in given:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    before = torch.cuda.memory_allocated() if device.type == "cuda" else 0
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = run_model(model, batch)
        loss = loss_of(torch, output)
    held = torch.cuda.memory_allocated() - before if device.type == "cuda" else 0
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
        "input": sum(item.numel() * item.element_size() for item in tensors_in(torch, batch)),
    }
    if device.type == "cuda":
        # what forward left allocated is what backward will use, blocks rounded up as the allocator does
        result["saved_for_backward"], result["activations"] = result["activations"], held
        result["peak"] = torch.cuda.max_memory_allocated()  # the allocator's own figure: temporaries and workspaces too
    model.zero_grad(set_to_none=True)
    return result


def _total(item: dict[str, int]) -> int:
    if "peak" in item:
        return item["peak"]
    return sum(item[name] for name in ("parameters", "buffers", "gradients", "optimizer", "activations", "input"))


def _line(points: dict[int, int]) -> Any:
    """Fit bytes = fixed + per_sample * batch by least squares."""
    sizes = sorted(points)
    if len(sizes) < 2:
        return 0.0, points[sizes[0]] / max(1, sizes[0])
    mean = sum(sizes) / len(sizes)
    level = sum(points[size] for size in sizes) / len(sizes)
    slope = sum((size - mean) * (points[size] - level) for size in sizes) / sum((size - mean) ** 2 for size in sizes)
    return level - slope * mean, slope


if __name__ == "__main__":
    main(model_memory)
