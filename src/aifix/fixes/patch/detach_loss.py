"""Losses added up or collected as numbers, so that no step's graph is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import loops
from aifix.fixes.patch.edit import code_of, names_in, positional, walk

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code


def patch(code: Code, case: Case) -> list[str]:
    """Write `.item()` behind losses that are added to a sum or appended to a list, where the sum itself is not differentiated."""
    del case
    losses = {step.loss for step in loops.steps(code)} | {"loss"}
    differentiated = {loops.method(statement)[0] for statement in code.find(cst.SimpleStatementLine) if loops.method(statement)[1] == "backward"}
    for node in code.find(cst.AugAssign):
        if isinstance(node.operator, cst.AddAssign) and code_of(node.target) not in differentiated:
            _detach(code, node.value, losses)
    for assign in code.find(cst.Assign):
        names = [name for target in assign.targets for name in names_in(target.target)]
        if (
            len(names) == 1
            and names[0] not in differentiated | losses
            and any(isinstance(one, cst.Name) and one.value == names[0] for one in walk(assign.value))
        ):
            _detach(code, assign.value, losses)
    for call in code.calls("append"):
        for arg in positional(call)[:1]:
            _detach(code, arg.value, losses)
    return ["A sum of tensors keeps every step's graph, and its activations, in memory; a number keeps nothing."]


def _detach(code: Code, expression: cst.BaseExpression, losses: set[str]) -> None:
    """Put `.item()` behind the losses in an expression, except where something is done with them already."""
    for node in walk(expression):
        if isinstance(node, (cst.Name, cst.Attribute)) and code_of(node) in losses:
            above = code.parent(node)
            if not isinstance(above, (cst.Attribute, cst.Call)) and not (isinstance(above, cst.Arg) and not _appended(code, above)):
                code.replace(node, f"{code_of(node)}.item()")


def _appended(code: Code, arg: cst.Arg) -> bool:
    call = code.parent(arg)
    return isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value == "append"
