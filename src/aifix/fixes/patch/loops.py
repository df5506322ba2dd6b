"""The plain training step, recognised: the block in which backward() and the optimizer's step() stand side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from aifix.fixes.patch import Refused
from aifix.fixes.patch.edit import code_of, dotted, positional
from aifix.fixes.values import OPTIMIZERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.fixes.patch.edit import Case, Code


class Step(NamedTuple):
    """A training step.

    `block` are the statements among which it stands, `loss` is the expression whose backward() is called, `optimizer` whose step();
    `scaler` is the GradScaler's name, if there is one.
    """

    block: Sequence[cst.BaseStatement]
    backward: cst.SimpleStatementLine
    loss: str
    step: cst.SimpleStatementLine
    optimizer: str
    scaler: str
    zero: tuple[cst.SimpleStatementLine, ...]


def call_of(statement: cst.CSTNode) -> cst.Call | None:
    """Give the call that a statement consists of: `x.f()` or `y = x.f()`."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    small = statement.body[0]
    value = small.value if isinstance(small, (cst.Expr, cst.Assign)) else None
    return value if isinstance(value, cst.Call) else None


def method(statement: cst.CSTNode) -> tuple[str, str]:
    """Give receiver and method of a statement that is a method's call: `optimizer.step()` is (optimizer, step)."""
    call = call_of(statement)
    if call is None or not isinstance(call.func, cst.Attribute):
        return "", ""
    return code_of(call.func.value), call.func.attr.value


def steps(code: Code) -> list[Step]:
    """Find the training steps of a file."""
    optimizers = {name for name, value in _constructed(code) if value in OPTIMIZERS}
    found = []
    for call in code.calls("backward"):
        statement = code.statement(call)
        block = code.siblings(statement)
        if call_of(statement) is not call or not block or not isinstance(statement, cst.SimpleStatementLine):
            continue
        loss, scaler = _loss(call, code)
        after = list(block)[list(block).index(statement) + 1 :]
        for other in after:
            receiver, name = method(other)
            if name != "step" or not isinstance(other, cst.SimpleStatementLine):
                continue
            arguments = positional(call_of(other) or call)
            scaled = bool(arguments) and "scaler" in receiver.lower()
            optimizer = code_of(arguments[0].value) if scaled else receiver
            if not scaled and "sched" in receiver.lower() and receiver not in optimizers:
                continue
            zero = tuple(one for one in block if isinstance(one, cst.SimpleStatementLine) and method(one)[1] == "zero_grad")
            found.append(Step(block, statement, loss, other, optimizer, receiver if scaled else scaler, zero))
            break
    return found


def one(code: Code, case: Case) -> Step:
    """Give the training step that is meant: the one around the failing line, else the only one.

    Raises:
        Refused: there is none, or it cannot be told which.

    """
    found = steps(code)
    if not found:
        raise Refused("no loop with loss.backward() and optimizer.step() side by side is in it")
    for line in case.lines:
        for step in found:
            around = code.parent(step.backward)
            if around is not None and code.spans(around, line):
                return step
    if len(found) > 1:
        raise Refused(f"there are {len(found)} training steps in it, and the log does not tell which one is meant")
    return found[0]


def loop_of(code: Code, step: Step) -> cst.For:
    """Give the loop whose body the step is.

    Raises:
        Refused: the step does not stand in the body of a loop over batches.

    """
    loop = code.above(step.backward, cst.For)
    if loop is None or code.parent(code.parent(step.backward) or step.backward) is not loop:
        raise Refused("the training step is not written in the body of a for loop")
    return loop


def outermost(code: Code, loop: cst.For) -> cst.For | cst.While:
    """Give the outermost loop around one, within the same function."""
    best: cst.For | cst.While = loop
    here = code.parent(loop)
    while here is not None and not isinstance(here, (cst.FunctionDef, cst.Module)):
        if isinstance(here, (cst.For, cst.While)):
            best = here
        here = code.parent(here)
    return best


def _loss(call: cst.Call, code: Code) -> tuple[str, str]:
    """Give the loss behind a backward() and the scaler's name: `scaler.scale(loss).backward()`."""
    receiver = call.func.value if isinstance(call.func, cst.Attribute) else call.func
    if isinstance(receiver, cst.Call) and isinstance(receiver.func, cst.Attribute) and receiver.func.attr.value == "scale" and receiver.args:
        return code_of(receiver.args[0].value), code_of(receiver.func.value)
    if isinstance(receiver, cst.Name) and receiver.value in {"accelerator", "fabric", "engine", "model_engine"} and call.args:
        return code_of(call.args[0].value), ""
    del code
    return code_of(receiver), ""


def _constructed(code: Code) -> list[tuple[str, str]]:
    """Give the names that are assigned a call, with the last part of what is called."""
    found = []
    for assign in code.find(cst.Assign):
        if isinstance(assign.value, cst.Call):
            called = dotted(assign.value.func).rpartition(".")[2]
            found += [(code_of(target.target), called) for target in assign.targets]
    return found


def parameters_of(code: Code, optimizer: str) -> str:
    """Give an expression for the parameters that an optimizer moves, valid wherever the optimizer is."""
    for assign in code.find(cst.Assign):
        if any(code_of(target.target) == optimizer for target in assign.targets) and isinstance(assign.value, cst.Call):
            first = next(iter(positional(assign.value)), None) or next(
                (arg for arg in assign.value.args if arg.keyword and arg.keyword.value == "params"), None
            )
            if first is not None and isinstance(first.value, cst.Call):
                text = code_of(first.value)
                if text.endswith(".parameters()") and _visible(code, assign, text.partition(".")[0]):
                    return text
    return f'[p for group in {optimizer}.param_groups for p in group["params"]]'


def _visible(code: Code, assign: cst.Assign, name: str) -> bool:
    """Tell whether the optimizer is made where its step is: then the model's name is known there, too."""
    scopes = {code.scope(step.step) for step in steps(code)}
    return name == "self" or scopes <= {code.scope(assign)} or isinstance(code.scope(assign), cst.Module)


def training_arguments(code: Code) -> list[cst.Call]:
    """Give the constructions of transformers' training arguments."""
    return [call for call in code.find(cst.Call) if dotted(call.func).rpartition(".")[2].endswith(("TrainingArguments", "SFTConfig"))]


def lightning_trainers(code: Code) -> list[cst.Call]:
    """Give the constructions of Lightning's Trainer."""
    if not any("lightning" in code_of(one) for one in (*code.find(cst.Import), *code.find(cst.ImportFrom))):
        return []
    return [call for call in code.find(cst.Call) if dotted(call.func).rpartition(".")[2] == "Trainer"]
