"""The lines of a traceback as IPython prints it: cells, numbered source, an arrow at the line that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.intake.tracebacks import ending
from aifix.intake.tracebacks.expressions import ELIDED, ERROR, ERROR_WORD
from aifix.intake.tracebacks.owner import is_user
from aifix.lazy import lazy_re
from aifix.model import Frame

if TYPE_CHECKING:
    from aifix.intake.tracebacks.walk import Open, Walk

_CELL = lazy_re(
    r"(?:(?:Cell )?(?:In ?\[ *(?P<cell>\d*) *\]|Input In \[\d+\])(?:, line (?P<cline>\d+))?(?:,? in (?P<cfunction>.{1,200}))?$"
    r"|File (?P<file>[^\s\"][^\"\n]{0,500}?):(?P<line>\d+), in (?P<function>.{1,300})$"
    r"|(?P<old><ipython-input-[^>]{1,80}>|[/~.][^\s:]{0,500}\.(?:py|pyx|pxd)|[A-Za-z]:\\[^:\n]{0,500}\.py) in (?P<ofunction>.{1,300})$)"
)
_ARROW = lazy_re(r"-{1,}> ?(\d{1,7})(?: (.*))?$")
_NUMBERED = lazy_re(r" {0,8}\d{1,7}(?: .*|)$")


def opens(walk: Walk, text: str) -> bool:
    """Whether a traceback begins here whose header is cut off: a cell's head with numbered source below it."""
    return _CELL.match(text) is not None and _numbered(walk)


def _numbered(walk: Walk) -> bool:
    for ahead in range(walk.at + 1, min(walk.at + 8, len(walk.order))):
        text = walk.text(ahead)
        if _ARROW.match(text):
            return True
        if text and not _NUMBERED.match(text):
            return False
    return False


def read(walk: Walk, trace: Open, text: str) -> None:
    """Read one line: a cell's head, its numbered source, or the exception."""
    cell = _CELL.match(text)
    if cell:
        if cell["file"]:
            frame = Frame(cell["file"], int(cell["line"]), _called(cell["function"]), "", is_user(cell["file"]))
        elif cell["old"]:
            file = cell["old"]
            frame = Frame(file, 0, _called(cell["ofunction"]), "", is_user(file))
        else:
            head = text.partition(",")[0].partition(" in ")[0].strip()
            frame = Frame(head, int(cell["cline"] or 0), _called(cell["cfunction"] or ""), "", user=True)
        walk.add_frame(trace, frame)
        walk.quote(trace)
        return
    arrow = _ARROW.match(text)
    if arrow:
        if trace.frames:
            old = trace.frames[-1]
            trace.frames[-1] = Frame(old.file, int(arrow[1]), old.function, (arrow[2] or "").strip(), old.user)
        walk.quote(trace)
        return
    error = ERROR.match(text) if text[:1].isalpha() or text[:1] == "_" else None
    if error:
        kind = error["kind"].rpartition(".")[2]
        if kind == trace.expected.rpartition(".")[2] if trace.expected else ERROR_WORD.search(kind) is not None:
            ending.finish(walk, trace)
            return
    if _NUMBERED.match(text) or text.startswith((" ", "\t")) or ELIDED.match(text):
        walk.quote(trace)
    elif text.strip():
        walk.stray(trace)
    else:
        walk.at += 1


def _called(function: str) -> str:
    """`step(self, x)` → `step`."""
    return function.partition("(")[0].strip() or function.strip()
