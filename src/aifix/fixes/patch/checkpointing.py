"""Activations recomputed in the backward pass instead of stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import Refused, loops
from aifix.fixes.patch.edit import code_of, dotted, names_in, positional

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

NOTE = "Training becomes about a third slower; the memory of the blocks' activations is freed."
HEADS = ("ForCausalLM", "ForSequenceClassification", "Model", "ForSeq2SeqLM", "ForMaskedLM", "ForConditionalGeneration", "ForTokenClassification",
         "ForQuestionAnswering", "LMHeadModel", "UNet2DConditionModel")  # fmt: skip


def patch(code: Code, case: Case) -> list[str]:
    """Switch it on by the library's own means, else wrap the layers that forward() runs through one after the other."""
    del case
    arguments = loops.training_arguments(code)
    for call in arguments:
        code.argument(call, "gradient_checkpointing", "True")
    if arguments:
        return [NOTE]
    if "gradient_checkpointing_enable" in code.text or "checkpoint_sequential" in code.text or "checkpoint.checkpoint(" in code.text:
        raise Refused("activation checkpointing is used there already")
    if _pretrained(code) or _loop(code) or _sequential(code):
        return [NOTE]
    raise Refused("neither from_pretrained() nor a forward() that runs through a list of layers or an nn.Sequential is in it")


def _pretrained(code: Code) -> bool:
    for assign in code.find(cst.Assign):
        call = assign.value
        if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value == "from_pretrained":
            name = names_in(assign.targets[0].target) or [code_of(assign.targets[0].target)]
            if len(name) == 1 and dotted(call.func.value).endswith(HEADS):
                code.insert_after(code.statement(assign), f"{name[0]}.gradient_checkpointing_enable()")
                return True
    return False


def _forwards(code: Code) -> list[cst.FunctionDef]:
    return [function for function in code.find(cst.FunctionDef) if function.name.value == "forward"]


def _loop(code: Code) -> bool:
    """Wrap `for layer in self.layers: x = layer(x)`."""
    for function in _forwards(code):
        for loop in code.find(cst.For, function):
            names = names_in(loop.target)
            for call in code.find(cst.Call, loop.body):
                if isinstance(call.func, cst.Name) and call.func.value in names and positional(call):
                    layer = call.func.value
                    _wrap(code, call, layer)
                    return True
    return False


def _wrap(code: Code, call: cst.Call, layer: str) -> None:
    name = code.fresh("checkpoint", "recompute")
    code.add_import("from torch.utils.checkpoint import checkpoint" + (f" as {name}" if name != "checkpoint" else ""))

    def wrap(old: cst.Call) -> cst.Call:
        first = cst.Arg(cst.Name(layer), comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        call = old.with_changes(func=cst.Name(name), args=[first, *old.args])
        from aifix.fixes.patch.edit import with_argument

        return with_argument(call, "use_reentrant", "False")

    code.change(call, wrap)


def _sequential(code: Code) -> bool:
    """Wrap `self.body(x)` where self.body is an nn.Sequential of several layers."""
    built = {
        code_of(assign.targets[0].target): len(assign.value.args)
        for assign in code.find(cst.Assign)
        if isinstance(assign.value, cst.Call) and dotted(assign.value.func).rpartition(".")[2] == "Sequential"
    }
    for function in _forwards(code):
        for call in code.find(cst.Call, function):
            layers = built.get(code_of(call.func), 0)
            if layers >= 2 and len(call.args) == 1:
                body, data = code_of(call.func), code_of(call.args[0].value)
                code.add_import("from torch.utils.checkpoint import checkpoint_sequential")
                segments = max(2, round(layers**0.5))
                code.replace(call, f"checkpoint_sequential({body}, {segments}, {data}, use_reentrant=False)")
                return True
    return False
