"""DataLoaders in a source, and which of them the failure is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import Refused
from aifix.fixes.patch.edit import code_of, dotted, keyword, names_in

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code


def every(code: Code) -> list[cst.Call]:
    """Give all constructions of loaders."""
    found = [call for call in code.find(cst.Call) if dotted(call.func).rpartition(".")[2].endswith("DataLoader")]
    if not found:
        raise Refused("no DataLoader is made in it")
    return found


def meant(code: Code, case: Case) -> list[cst.Call]:
    """Give the loader that the failing loop draws from; else those for training; else all."""
    loaders = every(code)
    names = {code_of(target.target): call for call in loaders if isinstance(assign := code.parent(call), cst.Assign) for target in assign.targets}
    for line in case.lines:
        for loop in reversed(code.find(cst.For)):
            if code.spans(loop, line):
                drawn = [call for name, call in names.items() if name in code_of(loop.iter)]
                if drawn:
                    return drawn
                inside = [call for call in loaders if code.spans(loop.iter, code.line(call)) and call in code.find(cst.Call, loop.iter)]
                if inside:
                    return inside
    at = [call for call in loaders if any(code.spans(call, line) for line in case.lines)]
    training = [call for call in loaders if "train" in _name(code, call)]
    return at or training or loaders


def training(code: Code, case: Case) -> list[cst.Call]:
    """Give the loaders that training draws from: neither validation's nor the test's, where names tell."""
    chosen = meant(code, case)
    return [call for call in chosen if not any(word in _name(code, call) for word in ("val", "test", "eval"))] or chosen


def _name(code: Code, call: cst.Call) -> str:
    assign = code.parent(call)
    if isinstance(assign, cst.Assign):
        return " ".join(name for target in assign.targets for name in (names_in(target.target) or [code_of(target.target)])).lower()
    scope = code.scope(call)
    return scope.name.value.lower() if isinstance(scope, cst.FunctionDef) else ""


def given(call: cst.Call, name: str, position: int = -1) -> cst.Arg | None:
    """Give an argument by its name, or by its position where that is counted."""
    found = keyword(call, name)
    if found is None and position >= 0:
        plain = [arg for arg in call.args if arg.keyword is None]
        found = plain[position] if position < len(plain) else None
    return found
