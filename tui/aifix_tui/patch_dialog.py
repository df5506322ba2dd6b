"""A fix as a patch of the user's code: before and after side by side, applied when asked for twice, undone on request."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import set_cell_size
from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from aifix.show.safe import one_line, sanitise
from aifix_tui import pages
from aifix_tui.dialogs import Dialog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.app import ComposeResult

    from aifix.fixes.patch import Change
    from aifix.fixes.proposal import Proposal

CONTEXT = 3
SIDE_BY_SIDE = 90
"""Columns from which on before and after stand beside each other."""


class Row(NamedTuple):
    """A line before and after; None where there is none."""

    before: str | None
    after: str | None


def rows(change: Change) -> list[list[Row]]:
    """Pair the lines of a change, in groups with some lines around each."""
    before, after = change.before.splitlines(), change.after.splitlines()
    groups: list[list[Row]] = []
    for group in difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(CONTEXT):
        found: list[Row] = []
        for _, low, high, start, end in group:
            left: list[str | None] = [*before[low:high]]
            right: list[str | None] = [*after[start:end]]
            length = max(len(left), len(right))
            left += [None] * (length - len(left))
            right += [None] * (length - len(right))
            found += [Row(one, other) for one, other in zip(left, right, strict=True)]
        groups.append(found)
    return groups


def _beside(groups: Sequence[Sequence[Row]], width: int) -> list[pages.Part]:
    half = (width - 3) // 2
    parts: list[pages.Part] = []
    for number, group in enumerate(groups):
        if number:
            parts.append(("⋮\n", pages.MUTED))
        for before, after in group:
            same = before == after
            for side, (line, sign, style) in enumerate(((before, "-", "$text-error"), (after, "+", "$text-success"))):
                said = "" if line is None else f"{' ' if same else sign} {sanitise(line)}"
                parts.append((set_cell_size(said, half), "" if same or line is None else style))
                parts.append((" │ ", pages.MUTED) if side == 0 else "\n")
    return parts


def _below(groups: Sequence[Sequence[Row]]) -> list[pages.Part]:
    parts: list[pages.Part] = []
    for number, group in enumerate(groups):
        if number:
            parts.append(("⋮\n", pages.MUTED))
        held: list[str] = []
        for before, after in [*group, Row("", "")]:
            if before == after:
                parts += [(f"+ {line}\n", "$text-success") for line in held]
                held = []
                parts.append(f"  {sanitise(before or '')}\n")
                continue
            if before is not None:
                parts.append((f"- {sanitise(before)}\n", "$text-error"))
            if after is not None:
                held.append(sanitise(after))
        parts.pop()
    return parts


def picture(changes: Sequence[Change], width: int) -> Content:
    """Lay the changes out for a width."""
    parts: list[pages.Part] = []
    for change in changes:
        parts.append((f"{sanitise(change.path)}\n", "bold"))
        groups = rows(change)
        parts += _beside(groups, width) if width >= SIDE_BY_SIDE else _below(groups)
    return Content.assemble(*parts)


class PatchDialog(Dialog):
    """Shows a patch; writes it after a second keystroke."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("a", "apply", "Apply"), Binding("u", "undo", "Undo"), Binding("escape", "close", "Close")]
    DEFAULT_CSS = """
    PatchDialog > Vertical { max-width: 180; }
    """

    def __init__(self, proposal: Proposal) -> None:
        super().__init__()
        self._proposal = proposal
        self._asked = False
        self._applied = False
        self._written = False

    def compose(self) -> ComposeResult:
        """Lay out the patch."""
        with Vertical() as frame:
            frame.border_title = Content(one_line(self._proposal.fix.title))
            with VerticalScroll():
                yield Static("", id="diff", markup=False)
            yield Static("", id="patch-foot", classes="foot", markup=False)

    def on_mount(self) -> None:
        """Say what can be done."""
        patch = self._proposal.patch
        notes = " ".join(one_line(note) for note in (*(patch.notes if patch else ()), self._proposal.stale) if note)
        self._say((f"{notes}\n" if notes else "") + "a writes it (what was there is kept) · Esc closes")

    def on_resize(self, event: events.Resize) -> None:
        """Lay the diff out anew."""
        del event
        if self._proposal.patch is not None:
            self.query_one("#diff", Static).update(picture(self._proposal.patch.changes, self.size.width * 9 // 10 - 6))

    def _say(self, text: str) -> None:
        self.query_one("#patch-foot", Static).update(text)

    def action_apply(self) -> None:
        """Ask once more, then write."""
        patch = self._proposal.patch
        if patch is None or self._applied:
            return
        if not self._asked:
            self._asked = True
            stale = f"{one_line(self._proposal.stale)}. " if self._proposal.stale else ""
            self._say(f"{stale}Press a again to write {', '.join(sanitise(change.path) for change in patch.changes)} · Esc does nothing")
            return
        self._applied = True
        self._write()

    def action_close(self) -> None:
        """Close; say so when the patch stands."""
        self.dismiss("applied" if self._written else None)

    def action_undo(self) -> None:
        """Put back what was there before the patch that this dialog wrote."""
        if self._applied:
            self._put_back()

    @work(thread=True, exclusive=True)
    def _write(self) -> None:
        """Write the patch; in a thread."""
        from aifix.fixes import backup
        from aifix.fixes.patch import Refused

        patch = self._proposal.patch
        assert patch is not None  # noqa: S101 - there is nothing to apply without one
        try:
            done = backup.apply(patch.name, patch.changes)
        except (Refused, OSError) as error:
            self._applied = self._asked = False
            self.app.call_from_thread(self._say, f"Not applied: {one_line(str(error))} · Esc closes")
            return
        self._written = True
        names = ", ".join(sanitise(entry.path) for entry in done.files)
        self.app.call_from_thread(self._say, f"✓ Written to {names} · u undoes it · Esc closes")

    @work(thread=True, exclusive=True)
    def _put_back(self) -> None:
        """Undo; in a thread."""
        from aifix.fixes import backup
        from aifix.fixes.patch import Refused

        try:
            done = backup.undo()
        except (Refused, OSError) as error:
            self.app.call_from_thread(self._say, f"Not undone: {one_line(str(error))} · Esc closes")
            return
        self._applied = self._asked = self._written = False
        self.app.call_from_thread(self._say, f"✓ As before: {', '.join(sanitise(entry.path) for entry in done.files)} · Esc closes")
