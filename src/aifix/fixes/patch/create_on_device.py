"""Tensors that are made in a forward pass, made on the device of its input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import Refused
from aifix.fixes.patch.edit import code_of, keyword

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

MAKERS = ("zeros", "ones", "full", "empty", "arange", "linspace", "eye", "rand", "randn", "randint", "tensor", "randperm", "as_tensor")


def patch(code: Code, case: Case) -> list[str]:
    """Add `device=` to what the failing function makes."""
    torch = code.imported("torch")
    if not torch:
        raise Refused("torch itself is not imported in it")
    for statement in code.at(case.lines):
        function = code.scope(statement)
        if not isinstance(function, cst.FunctionDef):
            continue
        names = [param.name.value for param in function.params.params if param.name.value not in {"self", "cls"}]
        made = [
            call for call in code.calls(*MAKERS, within=function) if code_of(call.func).startswith(f"{torch}.") and keyword(call, "device") is None
        ]
        if names and made:
            for call in made:
                code.argument(call, "device", f"{names[0]}.device")
            return [f"{names[0]} is taken for the input tensor of {function.name.value}()."]
    raise Refused("no tensor is made without a device in the function of the failing line")
