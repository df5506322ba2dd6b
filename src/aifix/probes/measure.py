"""How a model's memory divides, and the largest batch that fits: `aifix probe memory --model` as a function."""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

SAFE_SHARE = 0.4
"""Share of the free host memory that a measurement may take."""


class MeasureError(RuntimeError):
    """The model could not be measured; the message says what it was doing, and why not."""


class ModelMemory(msgspec.Struct, frozen=True):
    """What one training step of a model holds, in bytes."""

    batch: int
    """Samples in the batch that was measured."""
    device: str
    parameters: int
    gradients: int
    optimizer: int
    """The optimizer's state."""
    activations: int
    """What forward keeps for backward."""
    input: int
    buffers: int
    peak: int | None = None
    """The allocator's highest figure (CUDA): temporaries and workspaces too."""
    per_sample: int | None = None
    """By how much each further sample adds; the slope of the fitted line."""
    largest_by_line: int | None = None
    """The largest batch that fits into the budget by the fitted line."""
    largest_measured: int | None = None
    """The largest batch that was really run within the budget."""
    budget: int | None = None

    @property
    def total(self) -> int:
        """All of it."""
        return self.parameters + self.gradients + self.optimizer + self.activations + self.input + self.buffers


def model_memory(
    model: Any,
    batch: Any = 8,
    *,
    shape: str = "",
    optimizer: str = "adam",
    budget: int | None = None,
    python: str = "",
    timeout: float = 60.0,
) -> ModelMemory:
    """Measure a model's memory: by the allocator's counters on CUDA, by the tensors that autograd saves on the CPU.

    Args:
        model: `pkg.module:factory` (or `file.py:factory`), which is measured in a process of its own that may not crash this machine;
            or a torch module, which is measured here and left as it was: its gradients, buffers, mode and device are put back.
        batch: samples in a batch, or the batch itself (a tensor, a tuple of arguments, a dictionary of them).
        shape: the shape of one sample, as `3x224x224` or `128:int<32000`; guessed from the first layer by default.
        optimizer: whose state to count: adam, adamw, sgd or none.
        budget: bytes into which the largest batch shall fit; of a factory, what is free on the GPU or this host by default.
        python: the interpreter of a factory; this one by default.
        timeout: seconds for all measurements together.

    Raises:
        MeasureError: it cannot be measured.

    """
    if isinstance(model, str):
        said = _apart(model, batch, shape=shape, optimizer=optimizer, budget=budget, python=python, timeout=timeout)
    else:
        said = _here(model, batch, shape=shape, optimizer=optimizer, budget=budget, timeout=timeout)
    return msgspec.convert({name: value for name, value in said.items() if name in ModelMemory.__struct_fields__}, ModelMemory)


def _apart(model: str, batch: Any, *, shape: str, optimizer: str, budget: int | None, python: str, timeout: float) -> dict[str, Any]:
    """Measure in a process of its own."""
    from aifix.probes import active
    from aifix.probes.finding import Case
    from aifix.probes.machine import Machine
    from aifix.probes.target import find

    if not isinstance(batch, int):
        raise MeasureError("a factory is measured with a number of samples: let it return (model, batch) to give the batch itself")
    options = {"model": model, "batch": batch, "shape": shape, "optimizer": optimizer, "budget": budget, "timeout": timeout}
    found = active.model_memory(Case(Machine(find(python=python or sys.executable)), options=options))
    if "activations" not in found.data:
        raise MeasureError(found.summary)
    return found.data


def _here(model: Any, batch: Any, *, shape: str, optimizer: str, budget: int | None, timeout: float) -> dict[str, Any]:
    """Measure a live module, and put back what the passes change."""
    from aifix.probes import memory
    from aifix.probes.machine import Machine
    from aifix.probes.target import Target

    free = memory.meminfo(Machine(Target())).get("MemAvailable", 0)
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        raise MeasureError(f"{type(model).__name__} is neither a torch module nor the name of a factory")
    request = {"batch": batch if isinstance(batch, int) else 1, "shape": shape, "optimizer": optimizer, "budget": budget, "limit": timeout}
    request["safe"] = int(free * SAFE_SHARE) or None
    said: dict[str, Any] = {"stage": ""}
    with _scripts(), _kept(torch, model):
        script = importlib.import_module("model_memory")
        try:
            script.examine(torch, model, None if isinstance(batch, int) else batch, request, lambda **found: said.update(found))
        except Exception as error:
            raise MeasureError(f"{said['stage'] or 'measure'}: {type(error).__name__}: {error}") from error
    if not isinstance(batch, int):
        said["batch"] = _length(batch)
    return said


def _length(batch: Any) -> int:
    """Count the samples of a batch by the first tensor in it."""
    waiting = [batch]
    while waiting:
        item = waiting.pop(0)
        if hasattr(item, "shape"):
            return int(item.shape[0]) if len(item.shape) else 1
        waiting += list(item.values()) if isinstance(item, dict) else list(item) if isinstance(item, (tuple, list)) else []
    return 1


@contextlib.contextmanager
def _scripts() -> Iterator[None]:
    """Let the probes' scripts be imported: they are no package, since another interpreter runs them."""
    from aifix.probes.runner import SCRIPTS

    sys.path.insert(0, str(SCRIPTS))
    try:
        yield
    finally:
        sys.path.remove(str(SCRIPTS))


@contextlib.contextmanager
def _kept(torch: Any, model: Any) -> Iterator[None]:
    """Put a module's gradients, buffers, mode, device and the random numbers back."""
    gradients = [(item, item.grad) for item in model.parameters()]
    buffers = [(item, item.detach().clone()) for item in model.buffers()]
    devices = [(item, item.device) for item in [*model.parameters(), *model.buffers()]]
    training = [(module, module.training) for module in model.modules()]
    state = torch.get_rng_state()
    try:
        yield
    finally:
        for item, device in devices:
            item.data = item.data.to(device)
        for item, before in buffers:
            item.data.copy_(before)
        for item, gradient in gradients:
            item.grad = gradient
        for module, mode in training:
            module.training = mode
        torch.set_rng_state(state)
        if torch.cuda.is_available():
            torch.cuda.set_per_process_memory_fraction(1.0)  # a budget had bounded it
