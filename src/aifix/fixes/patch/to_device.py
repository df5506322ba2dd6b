"""Each batch moved to the model's device at the start of the step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import Refused
from aifix.fixes.patch.edit import code_of, dotted, names_in, walk

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

MOVES = frozenset({"to", "cuda"})


def patch(code: Code, case: Case) -> list[str]:
    """Move what the failing loop draws: tensors by name, a dictionary by its tensors."""
    for statement in code.at(case.lines):
        loop = code.above(statement, cst.For)
        while loop is not None:
            moved = _move(code, loop, statement)
            if moved:
                return ["Tensors are not moved in place: x.to(device) alone, without an assignment, does nothing."]
            loop = code.above(loop, cst.For)
    raise Refused("the failing line stands in no loop over batches that are still to be moved")


def _move(code: Code, loop: cst.For, failing: cst.SimpleStatementLine) -> bool:
    target = loop.target
    if isinstance(loop.iter, cst.Call) and dotted(loop.iter.func) == "enumerate" and isinstance(target, cst.Tuple) and len(target.elements) > 1:
        drawn = names_in(target.elements[1].value)
    else:
        drawn = names_in(target)
    if not drawn or not isinstance(loop.body, cst.IndentedBlock) or (isinstance(loop.iter, cst.Call) and dotted(loop.iter.func) == "range"):
        return False
    used = {node.value for one in code.find(cst.SimpleStatementLine, loop.body) for node in walk(one) if isinstance(node, cst.Name)}
    device = _device(code, loop, failing)
    names = [name for name in drawn if name in used and not _moved(code, loop, name)]
    if not names or not device:
        return False
    lines = []
    whole = "".join(code_of(one) for one in loop.body.body)
    for name in names:
        if f"**{name}" in whole or f'{name}["' in whole or f"{name}['" in whole:
            torch = code.imported("torch")
            test = f"{torch}.is_tensor(value)" if torch else 'hasattr(value, "to")'
            lines.append(f"{name} = {{key: value.to({device}) if {test} else value for key, value in {name}.items()}}")
        else:
            lines.append(f"{name} = {name}.to({device})")
    code.insert_before(_after_unpacking(loop), *lines)
    return True


def _after_unpacking(loop: cst.For) -> cst.BaseStatement:
    first = loop.body.body[0]
    assert isinstance(first, cst.BaseStatement) or isinstance(first, cst.SimpleStatementLine)  # noqa: S101, SIM101 - a block holds statements
    return first


def _moved(code: Code, loop: cst.For, name: str) -> bool:
    """Tell whether a name is moved in the loop already: `x = x.to(device)`, `x.cuda()`."""
    for call in code.find(cst.Call, loop.body):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in MOVES and code_of(call.func.value) == name:
            return True
    return False


def _device(code: Code, loop: cst.For, failing: cst.SimpleStatementLine) -> str:
    """Give an expression for the device: the name `device` where it is known, else that of the called model's parameters."""
    scopes = {code.scope(loop), code.module}
    parameters = {param.name.value for function in code.find(cst.FunctionDef) if function in scopes for param in function.params.params}
    for name in ("device", "DEVICE", "dev"):
        if name in parameters or any(code.scope(assign) in scopes for assign in code.assigned(name)):
            return name
    for call in [*code.find(cst.Call, failing), *code.find(cst.Call, loop.body)]:
        if isinstance(call.func, cst.Name) and (call.func.value in {"model", "net", "network"} or call.func.value.endswith(("model", "net"))):
            return f"next({call.func.value}.parameters()).device"
        if isinstance(call.func, cst.Attribute) and code_of(call.func) == "self.model":
            return "next(self.model.parameters()).device"
    return ""
