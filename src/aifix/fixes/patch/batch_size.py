"""Half the batch, with gradients accumulated over two steps where the loop is a plain one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import Refused, loaders, loops
from aifix.fixes.patch.edit import code_of, dotted, keyword, names_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from aifix.fixes.patch.edit import Case, Code

STEPS = 2
GROUP = frozenset({"unscale_", "clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "step", "update", "zero_grad"})
"""Calls that belong to the optimizer's step and go with it."""


def patch(code: Code, case: Case) -> list[str]:
    """Halve the batch where its size is written, and accumulate."""
    arguments = loops.training_arguments(code)
    if arguments:
        return _trainer(code, arguments)
    notes = []
    for call in loaders.training(code, case):
        size = loaders.given(call, "batch_size", 1)
        if size is None:
            raise Refused("its DataLoader has no batch_size: the batch is 1 or comes from a sampler")
        notes += _halve(code, case, size.value)
    trainers = loops.lightning_trainers(code)
    if trainers:
        for call in trainers:
            known = keyword(call, "accumulate_grad_batches")
            before = int(code_of(known.value)) if known is not None and code_of(known.value).isdigit() else 1
            code.argument(call, "accumulate_grad_batches", str(before * STEPS))
        return notes
    try:
        step = loops.one(code, case)
        _accumulate(code, step, loops.loop_of(code, step))
    except Refused as refusal:
        notes.append(f"Gradients are not accumulated ({refusal}): the effective batch is halved, too; consider a lower learning rate.")
    return notes


def _trainer(code: Code, arguments: list[cst.Call]) -> list[str]:
    notes = []
    for call in arguments:
        size = keyword(call, "per_device_train_batch_size")
        if size is None:
            code.argument(call, "per_device_train_batch_size", "4")
            notes.append("The batch was the default of 8 per device; it is 4 now.")
        else:
            code.replace(size.value, _half(size.value))
        steps = keyword(call, "gradient_accumulation_steps")
        if steps is None:
            code.argument(call, "gradient_accumulation_steps", str(STEPS))
        else:
            code.replace(steps.value, _double(steps.value))
    return notes


def _halve(code: Code, case: Case, value: cst.BaseExpression, depth: int = 0) -> list[str]:
    """Halve a size where it is written: here, at the name's assignment, or as an argument's default."""
    if isinstance(value, cst.Integer):
        if value.evaluated_value < STEPS:
            raise Refused("the batch is 1 already")
        code.replace(value, _half(value))
        return []
    name = value.value if isinstance(value, cst.Name) else value.attr.value if isinstance(value, cst.Attribute) else _key(value)
    said = case.facts.get("batch") or case.facts.get("batch_size")
    if said is not None and said.origin.startswith("command line") and isinstance(said.value, int) and not isinstance(value, cst.Integer):
        raise Refused(f"the batch size {said.text} was given on the command line: call the program with {max(1, said.value // STEPS)} instead")
    if isinstance(value, cst.Name) and depth < 3:
        written = code.assigned(name)
        if len(written) == 1 and not isinstance(code.above(written[0], cst.For), cst.For):
            return _halve(code, case, written[0].value, depth + 1)
    for call in code.calls("add_argument", "option", "Option"):
        options = {str(arg.value.evaluated_value).lstrip("-").replace("-", "_") for arg in call.args if isinstance(arg.value, cst.SimpleString)}
        default = keyword(call, "default")
        if name in options and default is not None and isinstance(default.value, cst.Integer):
            return _halve(code, case, default.value, depth + 1)
    for pair in code.find(cst.DictElement):
        if isinstance(pair.key, cst.SimpleString) and pair.key.evaluated_value == name and isinstance(pair.value, cst.Integer):
            return _halve(code, case, pair.value, depth + 1)
    for field in code.find(cst.AnnAssign):
        if names_in(field.target) == [name] and isinstance(field.value, cst.Integer):
            return _halve(code, case, field.value, depth + 1)
    code.replace(value, f"max(1, {code_of(value)} // {STEPS})")
    return [f"The size is computed elsewhere ({code_of(value)}): it is halved where it is used."]


def _key(value: cst.BaseExpression) -> str:
    if isinstance(value, cst.Subscript) and len(value.slice) == 1:
        index = value.slice[0].slice
        if isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString):
            return str(index.value.evaluated_value)
    return ""


def _half(value: cst.BaseExpression) -> str:
    if isinstance(value, cst.Integer):
        if value.evaluated_value < STEPS:
            raise Refused("the batch is 1 already")
        return str(value.evaluated_value // STEPS)
    return f"max(1, {code_of(value)} // {STEPS})"


def _double(value: cst.BaseExpression) -> str:
    return str(value.evaluated_value * STEPS) if isinstance(value, cst.Integer) else f"{code_of(value)} * {STEPS}"


def _accumulate(code: Code, step: loops.Step, loop: cst.For) -> None:
    """Let the optimizer step after every second batch."""
    block = list(step.block)
    start = block.index(step.backward)
    group = [statement for statement in block[start + 1 :] if loops.method(statement)[1] in GROUP or _function(statement) in GROUP]
    if step.step not in group or any("accum" in code_of(statement) for statement in block):
        raise Refused("its loop accumulates in its own way")
    clears = f"{step.optimizer}.zero_grad()"
    last = group[-1]
    counter, target = _counted(code, loop)
    inner = [code_of(statement).strip() for statement in group if loops.method(statement)[1] != "zero_grad"] + [clears]
    body = "".join(f"    {line}\n" for text in inner for line in text.split("\n"))
    code.insert_after(last, f"if ({counter} + 1) % {STEPS} == 0:\n{body}")
    for statement in (*group, *(one for one in step.zero if one not in group)):
        code.remove(statement)
    code.insert_before(loop, clears)
    if target is not None:
        code.change(loop, target)
    for node in code.find(cst.Call, step.backward):
        if code_of(node) == f"{step.loss}.backward()":
            code.replace(node, f"({step.loss} / {STEPS}).backward()")
        elif isinstance(node.func, cst.Attribute) and node.func.attr.value == "scale" and node.args:
            code.replace(node.args[0].value, f"{step.loss} / {STEPS}")


def _function(statement: cst.BaseStatement) -> str:
    call = loops.call_of(statement)
    return dotted(call.func).rpartition(".")[2] if call is not None else ""


def _counted(code: Code, loop: cst.For) -> tuple[str, Callable[[cst.For], cst.CSTNode] | None]:
    """Give the name that counts the loop's rounds, and the change that puts it there where there is none."""
    if isinstance(loop.iter, cst.Call) and dotted(loop.iter.func) == "enumerate" and isinstance(loop.target, cst.Tuple) and len(loop.iter.args) == 1:
        counter = loop.target.elements[0].value
        if isinstance(counter, cst.Name):
            return counter.value, None
    name = code.fresh("step", "batch_index", "round_index")

    def count(old: cst.For) -> cst.For:
        target = old.target
        if isinstance(target, cst.Tuple) and not target.lpar:
            target = target.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        numbered = cst.Tuple([cst.Element(cst.Name(name), comma=comma), cst.Element(target)], lpar=[], rpar=[])
        return old.with_changes(target=numbered, iter=cst.Call(cst.Name("enumerate"), [cst.Arg(old.iter)]))

    return name, count
