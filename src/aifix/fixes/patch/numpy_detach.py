"""Tensors detached and copied to the CPU before they become arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import Refused
from aifix.fixes.patch.edit import code_of, dotted, positional

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

TAKERS = frozenset({"plot", "scatter", "imshow", "hist", "bar", "fill_between", "errorbar", "confusion_matrix", "accuracy_score", "f1_score",
                    "roc_auc_score", "mean_squared_error", "classification_report", "DataFrame", "Series"})  # fmt: skip
"""Functions of plotting and of metrics that make arrays of what they are given."""


def patch(code: Code, case: Case) -> list[str]:
    """Change `x.numpy()` on the failing line, or the arguments of a NumPy, plotting or metric function there."""
    numpy = code.imported("numpy")
    for statement in code.at(case.lines):
        methods = [call for call in code.calls("numpy", "__array__", within=statement) if isinstance(call.func, cst.Attribute)]
        for call in methods:
            if isinstance(call.func, cst.Attribute):
                code.change(call.func.value, _host)
        if methods:
            return []
        for call in code.find(cst.Call, statement):
            name = dotted(call.func)
            if (numpy and name.startswith(f"{numpy}.")) or name.rpartition(".")[2] in TAKERS:
                for arg in positional(call):
                    if isinstance(arg.value, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)) and not code_of(arg.value).endswith(".numpy()"):
                        code.change(arg.value, lambda old: cst.Call(cst.Attribute(_host(old), cst.Name("numpy"))))
                return ["Every plain argument of that call is taken for a tensor: leave out those that are not."] if len(positional(call)) > 1 else []
    raise Refused("neither .numpy() nor a NumPy, plotting or metric function is called on the failing line")


def _host(tensor: cst.BaseExpression) -> cst.BaseExpression:
    """Give `tensor.detach().cpu()`; what of it stands there already is kept."""
    text = code_of(tensor)
    for method in ("detach", "cpu"):
        if f".{method}()" not in text and not (method == "cpu" and ".to(" in text):
            tensor = cst.Call(cst.Attribute(tensor, cst.Name(method)))
    return tensor
