"""`find_unused_parameters=True` for DistributedDataParallel, also through the trainers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.fixes.patch import Refused, loops
from aifix.fixes.patch.edit import code_of, keyword

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

PLAIN = {"'ddp'", '"ddp"'}


def patch(code: Code, case: Case) -> list[str]:
    """Set it where the model is wrapped."""
    del case
    wrapped = code.calls("DistributedDataParallel", "DDP")
    alias = code.name_of("torch.nn.parallel", "DistributedDataParallel")
    if alias:
        wrapped += [call for call in code.calls(alias) if call not in wrapped]
    for call in wrapped:
        code.argument(call, "find_unused_parameters", "True")
    arguments = loops.training_arguments(code)
    for call in arguments:
        code.argument(call, "ddp_find_unused_parameters", "True")
    trainers = [call for call in loops.lightning_trainers(code) if (known := keyword(call, "strategy")) is not None and code_of(known.value) in PLAIN]
    for call in trainers:
        code.argument(call, "strategy", '"ddp_find_unused_parameters_true"')
    if not wrapped and not arguments and not trainers:
        raise Refused("no DistributedDataParallel, TrainingArguments or Trainer(strategy='ddp') is in it")
    return ["DDP then walks the graph once more at each step. Parameters that are never used are better frozen or removed."]
