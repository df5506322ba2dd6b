"""`.reshape()` in place of `.view()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import Refused

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code


def views(code: Code, case: Case) -> list[cst.Attribute]:
    """Give the `.view` of the calls in the failing statement."""
    for statement in code.at(case.lines):
        found = [call.func for call in code.calls("view", within=statement) if isinstance(call.func, cst.Attribute)]
        if found:
            return found
    raise Refused("view() is not called on the failing line")


def patch(code: Code, case: Case) -> list[str]:
    """Rename the method."""
    for attribute in views(code, case):
        code.change(attribute.attr, lambda name: name.with_changes(value="reshape"))
    return ["reshape() is view() where that is possible, and a copy where it is not."]
