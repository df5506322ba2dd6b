"""`map_location`: a checkpoint of GPU tensors loaded onto the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.fixes.patch import Refused
from aifix.fixes.patch.edit import keyword, positional
from aifix.fixes.patch.weights_only import loads

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

HELPERS = ("load_state_dict_from_url", "load_from_checkpoint")


def patch(code: Code, case: Case) -> list[str]:
    """Pass map_location="cpu" to torch.load and to the helpers that pass it on."""
    chosen = code.calls(*HELPERS)
    try:
        chosen += loads(code, case)
    except Refused:
        if not chosen:
            raise
    open_ones = [call for call in chosen if keyword(call, "map_location") is None and (call in code.calls(*HELPERS) or len(positional(call)) < 2)]
    if not open_ones:
        raise Refused("map_location is given there already")
    for call in open_ones:
        code.argument(call, "map_location", '"cpu"')
    return ["Move the model to its device after loading: model.to(device)."]
