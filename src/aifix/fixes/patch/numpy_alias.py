"""Names that NumPy has removed, replaced by their successors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import Refused
from aifix.fixes.patch.edit import dotted

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

EVERY = True
BUILTINS = {"bool": "bool", "int": "int", "float": "float", "complex": "complex", "object": "object", "str": "str", "long": "int", "unicode": "str"}
"""Removed in NumPy 1.24; the built-in type is what they always were."""
RENAMED = {"NaN": "nan", "NAN": "nan", "Inf": "inf", "infty": "inf", "Infinity": "inf", "PINF": "inf", "float_": "float64", "complex_": "complex128",
           "cfloat": "complex128", "singlecomplex": "complex64", "longfloat": "longdouble", "string_": "bytes_", "unicode_": "str_",
           "product": "prod", "cumproduct": "cumprod", "sometrue": "any", "alltrue": "all", "in1d": "isin", "row_stack": "vstack",
           "trapz": "trapezoid", "round_": "round", "mat": "asmatrix",
           "Bytes0": "bytes_", "Str0": "str_"}  # fmt: skip
"""Removed in NumPy 2."""


def patch(code: Code, case: Case) -> list[str]:
    """Replace them all over the file."""
    del case
    numpy = code.imported("numpy")
    if not numpy:
        raise Refused("it does not import numpy")
    shadowed = {name for name in BUILTINS.values() if code.assigned(name)}
    found = False
    for node in code.find(cst.Attribute):
        if dotted(node.value) != numpy:
            continue
        name = node.attr.value
        if name in BUILTINS and BUILTINS[name] not in shadowed:
            code.replace(node, BUILTINS[name])
            found = True
        elif name == "NINF":
            code.replace(node, f"(-{numpy}.inf)")
            found = True
        elif name in RENAMED:
            code.replace(node, f"{numpy}.{RENAMED[name]}")
            found = True
    if not found:
        raise Refused("it uses none of the removed names")
    return []
