"""The gradient norm clipped before each optimizer step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.fixes.patch import Refused, loops
from aifix.fixes.patch.edit import code_of

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

NORM = "1.0"


def patch(code: Code, case: Case) -> list[str]:
    """Insert clip_grad_norm_ in front of step(), unscaled before where a GradScaler is used."""
    for call in loops.training_arguments(code):
        code.argument(call, "max_grad_norm", NORM)
        return []
    for call in loops.lightning_trainers(code):
        code.argument(call, "gradient_clip_val", NORM)
        return []
    step = loops.one(code, case)
    if "clip_grad" in code_of(code.scope(step.step)):
        raise Refused("gradients are clipped there already")
    torch = code.imported("torch")
    lines = []
    if step.scaler and "unscale_" not in code_of(code.scope(step.step)):
        lines.append(f"{step.scaler}.unscale_({step.optimizer})")
    if torch:
        clip = f"{torch}.nn.utils.clip_grad_norm_"
    else:
        clip = code.name_of("torch.nn.utils", "clip_grad_norm_") or "clip_grad_norm_"
        code.add_import("from torch.nn.utils import clip_grad_norm_")
    lines.append(f"{clip}({loops.parameters_of(code, step.optimizer)}, {NORM})")
    code.insert_before(step.step, *lines)
    return [f"Norms above {NORM} are scaled down to it. Print what clip_grad_norm_ returns: the usual norm is a better limit than a guess."]
