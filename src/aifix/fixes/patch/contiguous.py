"""A contiguous copy in front of `.view()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch.reshape import views

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code


def patch(code: Code, case: Case) -> list[str]:
    """Put `.contiguous()` between the tensor and view()."""
    for attribute in views(code, case):
        code.change(attribute, lambda old: old.with_changes(value=cst.Call(cst.Attribute(old.value, cst.Name("contiguous")))))
    return []
