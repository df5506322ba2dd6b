"""`drop_last=True`: an incomplete last batch is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.fixes.patch import Refused, loaders, loops
from aifix.fixes.patch.edit import code_of, keyword

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code


def patch(code: Code, case: Case) -> list[str]:
    """Set drop_last in the loader that the failing loop draws from, or in the Trainer's arguments."""
    arguments = loops.training_arguments(code)
    for call in arguments:
        code.argument(call, "dataloader_drop_last", "True")
    if arguments:
        return []
    chosen = [call for call in loaders.training(code, case) if keyword(call, "batch_sampler") is None]
    if not chosen:
        raise Refused("its DataLoader takes a batch_sampler: drop the last batch there")
    open_ones = [call for call in chosen if (known := keyword(call, "drop_last")) is None or code_of(known.value) != "True"]
    if not open_ones:
        raise Refused("drop_last=True stands there already")
    for call in open_ones:
        code.argument(call, "drop_last", "True")
    return ["A last batch that is not full is no longer trained on; with shuffle=True other samples fall into it each epoch."]
