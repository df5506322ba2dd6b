"""`weights_only=False`: a checkpoint that one trusts, loaded in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.fixes.patch import Refused
from aifix.fixes.patch.edit import code_of, keyword

if TYPE_CHECKING:
    import libcst as cst

    from aifix.fixes.patch.edit import Case, Code


def loads(code: Code, case: Case) -> list[cst.Call]:
    """Give the torch.load of the failing statement, else every torch.load of the file."""
    found = code.calls("torch.load")
    name = code.name_of("torch", "load")
    if name:
        found += [call for call in code.calls(name) if code_of(call.func) == name]
    found = [call for call in found if code_of(call.func) in {"torch.load", name, f"{code.imported('torch')}.load"}]
    at = [call for call in found if any(code.spans(call, line) for line in case.lines)]
    if not found:
        raise Refused("torch.load is not called in it")
    return at or found


def patch(code: Code, case: Case) -> list[str]:
    """Pass weights_only=False."""
    chosen = [call for call in loads(code, case) if (known := keyword(call, "weights_only")) is None or code_of(known.value) != "False"]
    if not chosen:
        raise Refused("weights_only=False stands there already")
    for call in chosen:
        code.argument(call, "weights_only", "False")
    return ["Do this only with a file of your own or from somebody you trust: it can run any code while it is loaded."]
