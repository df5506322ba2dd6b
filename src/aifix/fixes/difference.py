"""A patch as a unified diff, coloured or plain."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING

from aifix.show.safe import sanitise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.fixes.patch import Change
    from aifix.show.layout import Paint


def unified(changes: Sequence[Change], paint: Paint) -> list[str]:
    """Lay out the changes as the lines of a unified diff, as `git apply` and `patch -p1` take it where nothing is painted."""
    out: list[str] = []
    for change in changes:
        name = _relative(change.path)
        before, after = change.before.splitlines(keepends=True), change.after.splitlines(keepends=True)
        for line in difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"):
            text = sanitise(line.rstrip("\r\n"))
            if line.startswith(("--- ", "+++ ")):
                text = paint.strong(text)
            elif line.startswith("@@"):
                text = paint.code(text)
            elif line.startswith("+"):
                text = paint.good(text)
            elif line.startswith("-"):
                text = paint.bad(text)
            out.append(text)
            if not line.endswith("\n"):
                out.append("\\ No newline at end of file")
    return out


def _relative(path: str) -> str:
    try:
        name = os.path.relpath(path)
    except ValueError:  # another drive
        name = path
    return (path if name.startswith("..") else name).replace(os.sep, "/").lstrip("/")
