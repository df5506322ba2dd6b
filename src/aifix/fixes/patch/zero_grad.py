"""`optimizer.zero_grad()` where a training step lacks it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aifix.fixes.patch import Refused, loops
from aifix.fixes.patch.edit import code_of

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code


def patch(code: Code, case: Case) -> list[str]:
    """Clear the gradients in front of backward()."""
    lacking = [step for step in loops.steps(code) if not _cleared(code, step)]
    if not lacking:
        loops.one(code, case)
        raise Refused("each training step clears its gradients already")
    for step in lacking:
        code.insert_before(step.backward, f"{step.optimizer}.zero_grad()")
    return ["Gradients are then those of one batch; before, they were the sum of all batches so far."]


def _cleared(code: Code, step: loops.Step) -> bool:
    """Tell whether gradients are cleared anywhere around the step, or accumulated on purpose."""
    around = code.scope(step.backward)
    text = code_of(around)
    return bool(re.search(r"\.zero_grad\(|\.grad\s*=\s*None|accumul", text))
