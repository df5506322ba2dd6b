"""Class targets as int64 where the loss is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import Refused
from aifix.fixes.patch.edit import code_of, dotted, keyword, positional

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

LOSSES = ("cross_entropy", "nll_loss", "criterion", "loss_fn", "loss_func", "loss_function", "CrossEntropyLoss", "NLLLoss", "one_hot", "crit")


def patch(code: Code, case: Case) -> list[str]:
    """Write `.long()` behind the target on the failing line."""
    for statement in code.at(case.lines):
        for call in code.find(cst.Call, statement):
            name = dotted(call.func).rpartition(".")[2]
            made = isinstance(call.func, cst.Call) and dotted(call.func.func).rpartition(".")[2] in LOSSES
            plain = positional(call)
            target = keyword(call, "target") or (plain[0] if name == "one_hot" and plain else plain[1] if len(plain) > 1 else None)
            if target is not None and (made or name in LOSSES or name.endswith(("loss", "criterion"))):
                if code_of(target.value).endswith((".long()", "torch.long)")):
                    raise Refused("the target is made int64 there already")
                code.change(target.value, lambda old: cst.Call(cst.Attribute(_bracketed(old), cst.Name("long"))))
                return ["Cheaper once for all: torch.as_tensor(label, dtype=torch.long) in the dataset."]
    raise Refused("no loss with a target is computed on the failing line")


def _bracketed(node: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
