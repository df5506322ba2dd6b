"""Forward pass and loss under autocast, with a GradScaler where float16 needs one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import Refused, loops
from aifix.fixes.patch.create_on_device import MAKERS
from aifix.fixes.patch.edit import code_of, dotted, names_in, walk

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

MOVES = frozenset({"to", "cuda", "cpu", "float", "long", "half", "items", "values", "next"})


def patch(code: Code, case: Case) -> list[str]:
    """Wrap the statements from the model's call to the loss; scale the loss, and step through the scaler."""
    for call in loops.training_arguments(code):
        code.without(call, "fp16")
        code.argument(call, "bf16", "True")
        return ["bfloat16 needs an Ampere card or later (or a CPU); older cards take fp16=True instead."]
    for call in loops.lightning_trainers(code):
        code.argument(call, "precision", '"bf16-mixed"')
        return ['bfloat16 needs an Ampere card or later; older cards take "16-mixed" instead.']
    step = loops.one(code, case)
    scope = code.scope(step.backward)
    if "autocast" in code_of(scope):
        raise Refused("autocast is used there already")
    torch = code.imported("torch")
    if not torch:
        raise Refused("torch itself is not imported in it")
    forward = _forward(step)
    device = _device(code, torch)
    inner = "".join(f"    {line}\n" for one in forward for line in code_of(one.with_changes(leading_lines=())).rstrip("\n").split("\n"))
    code.insert_before(forward[0], f"with {torch}.autocast(device_type={device}):\n{inner}")
    for statement in forward:
        code.remove(statement)
    notes = ["On a GPU this computes in float16; the scaler keeps small gradients from vanishing. Losses and accuracy may differ slightly."]
    if not step.scaler:
        _scale(code, step, torch, device)
        notes.append("torch before 2.3 has the scaler as torch.cuda.amp.GradScaler(enabled=...), without the device.")
    return notes


def _forward(step: loops.Step) -> list[cst.SimpleStatementLine]:
    """Give the statements from the first that the loss is computed by, to the loss, without moves of data."""
    block = list(step.block)
    end = block.index(step.backward)
    wanted = {node.value for node in walk(cst.parse_expression(step.loss)) if isinstance(node, cst.Name)}
    chosen: list[int] = []
    for index in range(end - 1, -1, -1):
        statement = block[index]
        if not isinstance(statement, cst.SimpleStatementLine) or not isinstance(statement.body[0], cst.Assign):
            continue
        assign = statement.body[0]
        names = {name for target in assign.targets for name in names_in(target.target)}
        if names & wanted and _computes(assign.value):
            chosen.append(index)
            wanted |= {node.value for node in walk(assign.value) if isinstance(node, cst.Name)}
    if not chosen:
        raise Refused(f"the statement that computes {step.loss} does not stand beside its backward()")
    run: list[int] = []
    for index in range(max(chosen), min(chosen) - 1, -1):
        if not isinstance(block[index], cst.SimpleStatementLine) or loops.method(block[index])[1] in {"step", "zero_grad"}:
            break
        run.append(index)
    while run[-1] not in chosen:
        run.pop()
    return [statement for index in reversed(run) if isinstance(statement := block[index], cst.SimpleStatementLine)]


def _computes(value: cst.BaseExpression) -> bool:
    """Tell whether an expression computes with the model or the loss, rather than moves or makes data."""
    while isinstance(value, (cst.Subscript, cst.Attribute)):
        value = value.value
    if isinstance(value, cst.BinaryOperation):
        return True
    if not isinstance(value, cst.Call):
        return False
    name = dotted(value.func)
    return name.rpartition(".")[2] not in MOVES and not (name.startswith("torch.") and name.count(".") == 1 and name.rpartition(".")[2] in MAKERS)


def _device(code: Code, torch: str) -> str:
    """Give an expression for the type of device that is trained on."""
    for assign in code.assigned("device"):
        if isinstance(code.scope(assign), cst.Module) or code.scope(assign) in {code.scope(step.backward) for step in loops.steps(code)}:
            return f"{torch}.device(device).type"
    return f'"cuda" if {torch}.cuda.is_available() else "cpu"'


def _scale(code: Code, step: loops.Step, torch: str, device: str) -> None:
    """Scale the loss and step through a scaler that is made in front of the loops; on the CPU it does nothing."""
    scaler = code.fresh("scaler", "grad_scaler")
    loop = code.above(step.backward, cst.For)
    if loop is None:
        raise Refused("the training step stands in no loop: a GradScaler has to be made outside of it")
    top = loops.outermost(code, loop)
    code.insert_before(top, f"{scaler} = {torch}.amp.GradScaler({device}, enabled={torch}.cuda.is_available())")
    for call in code.find(cst.Call, step.backward):
        if code_of(call.func) == f"{step.loss}.backward":
            code.change(call, lambda old: old.with_changes(func=cst.parse_expression(f"{scaler}.scale({step.loss}).backward")))
    block = list(step.block)
    between = block[block.index(step.backward) + 1 : block.index(step.step)]
    if any("clip_grad" in code_of(one) for one in between):
        clip = next(one for one in between if "clip_grad" in code_of(one))
        code.insert_before(clip, f"{scaler}.unscale_({step.optimizer})")
    code.remove(step.step)
    code.insert_before(step.step, f"{scaler}.step({step.optimizer})", f"{scaler}.update()")
