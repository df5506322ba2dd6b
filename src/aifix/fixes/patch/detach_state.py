"""The state that is carried from one step to the next, cut off from the graph of the step that made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import Refused, loops
from aifix.fixes.patch.edit import code_of, names_in, walk

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

MOVES = frozenset({"to", "cuda", "detach", "float", "long", "view", "reshape"})


def patch(code: Code, case: Case) -> list[str]:
    """Detach at the start of each step what the step both takes and gives: `out, hidden = model(x, hidden)`."""
    step = loops.one(code, case)
    loops.loop_of(code, step)
    torch = code.imported("torch")
    carried = [name for statement in step.block for name in _carried(statement)]
    if not carried:
        raise Refused("nothing is carried from one step of its loop to the next by name")
    if not torch:
        raise Refused("torch itself is not imported in it")
    first = step.block[0]
    for name in dict.fromkeys(carried):
        value = f"{name}.detach() if {torch}.is_tensor({name}) else tuple(h.detach() for h in {name})"
        maybe_none = any(code_of(assign.value) == "None" for assign in code.assigned(name))
        code.insert_before(first, f"if {name} is not None:\n    {name} = {value}\n" if maybe_none else f"{name} = {value}")
    return ["Gradients now end at the border of a step (truncated backpropagation through time)."]


def _carried(statement: cst.BaseStatement) -> list[str]:
    """Give the names that a statement assigns from a call which takes them, too."""
    if not isinstance(statement, cst.SimpleStatementLine) or not isinstance(statement.body[0], cst.Assign):
        return []
    assign = statement.body[0]
    if not isinstance(assign.value, cst.Call):
        return []
    taken = {node.value for arg in assign.value.args for node in walk(arg.value) if isinstance(node, cst.Name)}
    if isinstance(assign.value.func, cst.Attribute) and assign.value.func.attr.value in MOVES:
        return []
    return [name for target in assign.targets for name in names_in(target.target) if name in taken]
