"""Run a model once in fp32, fp16 and bf16: the first layer that yields nan or inf, and gradient norms by layer."""

from __future__ import annotations

import math
from typing import Any

from _protocol import Request, batch_of, built, loss_of, main, need_torch, run_model, say, sentence, stage, tensors_in

FEW_LAYERS = 3
"""Weights below which there is no course from the first to the last."""
HALF_MAX = 65504.0
"""The largest number of fp16."""


def layers(request: Request) -> None:
    """Answer precision by precision."""
    torch = need_torch()
    model, batch = built(torch, request)
    if batch is None:
        batch = batch_of(torch, request, int(request["batch"]), model)
    bad_input = _nonfinite_in(torch, batch)
    say(layers=sum(1 for _ in model.named_modules()), parameters=sum(item.numel() for item in model.parameters()), input_nonfinite=bad_input)
    bad = [name for name, item in model.named_parameters() if not bool(item.isfinite().all())]
    say(nonfinite_parameters=bad[:20])
    stage("forward and backward in fp32")
    say(fp32=_pass(torch, model, batch, None))
    say(gradients=_gradients(model))
    for name, dtype in (("fp16", torch.float16), ("bf16", torch.bfloat16)):
        stage(f"forward in {name}")
        try:
            say(**{name: _pass(torch, model, batch, dtype)})
        except Exception as error:
            say(**{name: {"not_run": sentence(error)}})
    say(done=True)


def _pass(torch: Any, model: Any, batch: Any, dtype: Any) -> dict[str, Any]:
    """Run the model with every leaf module watched; in fp32 backward too."""
    found: list[dict[str, Any]] = []
    order: list[dict[str, Any]] = []
    handles = []

    def watch(name: str) -> Any:
        def hook(module: Any, inputs: Any, output: Any) -> None:
            tensors = [item for item in tensors_in(torch, output) if item.is_floating_point()]
            if not tensors:
                return
            largest = max(float(item.detach().float().abs().nan_to_num(nan=0.0).max()) if item.numel() else 0.0 for item in tensors)
            nan = sum(int(item.detach().isnan().sum()) for item in tensors)
            inf = sum(int(item.detach().isinf().sum()) for item in tensors)
            entry = {"layer": name, "kind": type(module).__name__, "largest": largest, "nan": nan, "inf": inf, "number": len(order)}
            order.append(entry)
            if (nan or inf) and not found:
                clean = all(bool(item.isfinite().all()) for item in tensors_in(torch, inputs) if item.is_floating_point())
                before = order[-2]["layer"] if len(order) > 1 else ""
                found.append({**entry, "input_clean": clean, "after": before})

        return hook

    def gather(name: str) -> Any:
        """Watch a module that holds others: what its own code does between and after them is in nobody else's output."""

        def hook(module: Any, inputs: Any, output: Any) -> None:
            tensors = [item for item in tensors_in(torch, output) if item.is_floating_point()]
            nan, inf = (sum(int(getattr(item.detach(), test)().sum()) for item in tensors) for test in ("isnan", "isinf"))
            if (nan or inf) and not found:
                clean = all(bool(item.isfinite().all()) for item in tensors_in(torch, inputs) if item.is_floating_point())
                entry = {"layer": name, "kind": type(module).__name__, "nan": nan, "inf": inf, "number": len(order), "input_clean": clean}
                found.append({**entry, "own_code": True, "largest": 0.0, "after": order[-1]["layer"] if order else ""})

        return hook

    for name, module in model.named_modules():
        holds = bool(list(module.children()))
        handles.append(module.register_forward_hook((gather if holds else watch)(name or type(module).__name__)))
    kept = [(item, item.detach().clone()) for item in [*model.parameters(), *model.buffers()]] if dtype is not None else []
    answer: dict[str, Any] = {}
    try:
        if dtype is not None:
            model.to(dtype)
            with torch.no_grad():
                run_model(model, _to(torch, batch, dtype))
        else:
            model.zero_grad(set_to_none=True)
            loss = loss_of(torch, run_model(model, batch))
            loss.backward()
            answer["loss"] = float(loss.detach())
    finally:
        for handle in handles:
            handle.remove()
        for item, before in kept:
            item.data = before
    return {"first": found[0] if found else None, **answer, **_sizes(order)}


def _sizes(order: list[dict[str, Any]]) -> dict[str, Any]:
    over = [entry for entry in order if entry["largest"] > HALF_MAX]
    return {"over_fp16": over[:3], "largest": max((entry["largest"] for entry in order), default=0.0)}


def _gradients(model: Any) -> dict[str, Any]:
    """Give gradient norms, the extreme ones by name."""
    norms = []
    without = []
    for name, item in model.named_parameters():
        if not item.requires_grad:
            continue
        if item.grad is None:
            without.append(name)
        else:
            norm, weight = float(item.grad.detach().float().norm()), float(item.detach().float().norm())
            norms.append({"parameter": name, "norm": norm, "weight": weight, "dimensions": item.dim()})
    numbers = [entry["norm"] for entry in norms]
    total = sum(number * number for number in numbers if math.isfinite(number)) ** 0.5
    bad = [entry["parameter"] for entry in norms if entry["norm"] != entry["norm"] or entry["norm"] == float("inf")]
    dead = [entry["parameter"] for entry in norms if entry["norm"] == 0.0]
    return {"total": total, "by_parameter": norms[:400], "without": without[:50], "nonfinite": bad[:50], "zero": dead[:50], **_course(norms)}


def _course(norms: list[dict[str, Any]]) -> dict[str, Any]:
    """Compare the gradients of the first layers with those of the last, each beside its weights, so that the loss's size does not matter."""
    layers = [entry for entry in norms if entry["dimensions"] > 1 and entry["norm"] > 0 and entry["weight"] > 0 and math.isfinite(entry["norm"])]
    if len(layers) < FEW_LAYERS:
        return {}
    part = max(1, len(layers) // 4)
    first, last = ([math.log10(entry["norm"] / entry["weight"]) for entry in some] for some in (layers[:part], layers[-part:]))
    fall = sorted(first)[len(first) // 2] - sorted(last)[len(last) // 2]
    return {
        "course": fall,
        "course_ends": [layers[0]["parameter"], layers[-1]["parameter"]],
        "course_norms": [layers[0]["norm"], layers[-1]["norm"]],
        "course_per_layer": 10 ** (fall / max(1, len(layers) - part)),
    }


def _to(torch: Any, value: Any, dtype: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, dict):
        return {name: _to(torch, item, dtype) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_to(torch, item, dtype) for item in value)
    return value


def _nonfinite_in(torch: Any, batch: Any) -> int:
    return sum(int((~item.isfinite()).sum()) for item in tensors_in(torch, batch) if item.is_floating_point())


if __name__ == "__main__":
    main(layers)
