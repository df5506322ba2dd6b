"""Small screens over the others: a line shown whole, a fix to copy from, pasted text, the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from aifix.show.safe import one_line, sanitise_block
from aifix_tui import pages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from aifix.model import Action

CLOSE: list[BindingType] = [Binding("escape", "dismiss(None)", "Close")]


class Dialog(ModalScreen[str | None]):
    """A frame in the middle of the screen, closed by Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [*CLOSE]
    DEFAULT_CSS = """
    Dialog { align: center middle; }
    Dialog > Vertical { width: 90%; max-width: 110; height: auto; max-height: 90%; border: round $primary; background: $surface; padding: 0 1; }
    Dialog VerticalScroll { height: auto; max-height: 100%; }
    Dialog OptionList, Dialog OptionList:focus { height: auto; max-height: 70vh; border: none; background: $surface; }
    Dialog TextArea { height: 60vh; border: none; }
    Dialog .foot { color: $text-muted; height: auto; margin-top: 1; }
    """


class LineDialog(Dialog):
    """One line of the log, wrapped."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "dismiss(None)", "Close"), Binding("c", "copy", "Copy")]

    def __init__(self, number: int, line: str) -> None:
        super().__init__()
        self._number = number
        self._line = line

    def compose(self) -> ComposeResult:
        """Lay out the line."""
        with Vertical() as frame:
            frame.border_title = f"line {self._number:,}"
            with VerticalScroll():
                yield Static(Content(self._line or " "))
            yield Static("c copies · Esc closes", classes="foot", markup=False)

    def action_copy(self) -> None:
        """Copy the line."""
        self.app.copy_to_clipboard(self._line)
        self.notify("Line copied")


class CopyDialog(Dialog):
    """What a fix wants done, to copy from."""

    def __init__(self, title: str, actions: Sequence[Action]) -> None:
        super().__init__()
        self._title = title
        self._actions = actions

    def compose(self) -> ComposeResult:
        """List the actions."""
        with Vertical() as frame:
            frame.border_title = Content(one_line(self._title))
            yield OptionList(*[self._option(index, action) for index, action in enumerate(self._actions)], markup=False)
            yield Static("Enter copies · Esc closes", classes="foot", markup=False)

    def _option(self, index: int, action: Action) -> Option:
        said = sanitise_block(action.text.strip("\n"))
        return Option(pages.text((f"{action.kind}\n", pages.MUTED), said, "\n"), id=str(index))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Hand the chosen text back."""
        event.stop()
        self.dismiss(sanitise_block(self._actions[event.option_index].text.strip("\n")))


class HelpedDialog(Dialog):
    """Whether a fix helped: yes, no, or later. Gives `yes`, `no` or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss('yes')", "Yes"),
        Binding("n", "dismiss('no')", "No"),
        Binding("l", "dismiss(None)", "Later"),
    ]
    ANSWERS = (
        ("yes", "y  ", "Yes, the failure is gone"),
        ("no", "n  ", "No, it fails as before"),
        ("", "l  ", "Later: I have not tried it yet"),
    )

    def __init__(self, fix: str, failure: str) -> None:
        super().__init__()
        self._fix = fix
        self._failure = failure

    def compose(self) -> ComposeResult:
        """Ask."""
        with Vertical() as frame:
            frame.border_title = "Did it help?"
            yield Static(pages.text((one_line(self._fix), "bold"), ("\nagainst: ", pages.MUTED), one_line(self._failure), "\n"))
            yield OptionList(*[Option(pages.text((key, "bold"), said), id=name or None) for name, key, said in self.ANSWERS], markup=False)
            yield Static("Your answer stays on this machine; fixes that worked move up the next time.", classes="foot", markup=False)

    def on_mount(self) -> None:
        """Suggest to wait: the failed run is to be started again first."""
        self.query_one(OptionList).highlighted = 2

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id or None)


class CleanTextArea(TextArea):
    """A text area that takes no control characters from what is pasted."""

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        await super()._on_paste(events.Paste(sanitise_block(event.text)))


class PasteDialog(Dialog):
    """A place to paste a log into."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s,f5", "done", "Diagnose", priority=True)]

    def compose(self) -> ComposeResult:
        """Lay out the text area."""
        with Vertical() as frame:
            frame.border_title = "Paste the output of the failed run"
            yield CleanTextArea(show_line_numbers=False, soft_wrap=True)
            yield Static("Ctrl+S (or F5) diagnoses · Esc closes", classes="foot", markup=False)

    def action_done(self) -> None:
        """Hand the text back."""
        self.dismiss(self.query_one(TextArea).text or None)


HELP = (
    (
        "Anywhere",
        (
            ("o", "open a log"),
            ("d", "the diagnosis of the open log"),
            ("w", "wizard: questions, for when there is no log"),
            ("b", "handbook of all diagnoses, and articles"),
            ("R", "run a command and watch it; its diagnosis at its end"),
            ("Ctrl+P", "command palette: every command by name"),
            ("Tab, Shift+Tab", "next or previous part of the screen"),
            ("F2", "light or dark"),
            ("?", "this page"),
            ("q", "quit"),
        ),
    ),
    (
        "Diagnosis",
        (
            ("l f m y p", "log, fixes, meaning, why, probes (← → on the tabs)"),
            ("e, E", "next or previous line of the proof"),
            ("/", "search the log; n and N: next, previous"),
            ("r", "one rank's lines alone, the next rank, all"),
            ("Enter", "log: the line whole; fixes: choose what to copy; probes: run one"),
            ("c", "copy: the command of a fix, or the line"),
            ("v", "fixes: a patch of your code, side by side; a writes it, u undoes it"),
            ("a", "probes: run all; verdicts move the confidence and the fixes; x: call off"),
            ("t", "tried a fix: did it help? yes, no, later; the order learns from it"),
            ("h", "the rule's page in the handbook"),
        ),
    ),
    (
        "Log",
        (
            ("↑ ↓ k j", "line by line; PgUp PgDn Space by the page"),
            ("g G, Home End", "first and last line"),
            ("← →", "sideways"),
        ),
    ),
    (
        "Run",
        (
            ("Enter", "start the command"),
            ("s", "stop it; a second s stops it the hard way"),
            ("End", "follow the output again after scrolling up"),
        ),
    ),
    (
        "Wizard",
        (
            ("Enter", "give the answer; on a diagnosis: its page with fixes"),
            ("s", "skip the question"),
            ("Backspace, u", "take the last answer back"),
            ("/", "words of the message, as far as you know them"),
            ("x", "start again"),
        ),
    ),
    (
        "Handbook",
        (
            ("/", "search rules and articles, typing errors forgiven; ↓ to the list"),
            ("a", "diagnoses alone, articles alone, everything"),
            ("Enter, Tab", "into the page, then to its links; Enter follows one"),
            ("Backspace", "back along the links"),
        ),
    ),
    (
        "Signs",
        (
            ("✗ ▲ •", "error, warning, remark"),
            ("↳", "a consequence of what stands above it"),
            ("▶ ·", "log: proof of the chosen diagnosis, of another one"),
            ("¶", "an article"),
        ),
    ),
)


class HelpDialog(Dialog):
    """All keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,q", "dismiss(None)", "Close")]

    def compose(self) -> ComposeResult:
        """List the keys by screen."""
        parts: list[pages.Part] = []
        for title, keys in HELP:
            parts.append((f"{title}\n", "bold"))
            for key, meaning in keys:
                parts += [(f"  {key:<16} ", "$text-accent"), f"{meaning}\n"]
            parts.append("\n")
        with Vertical() as frame:
            frame.border_title = "Keys"
            with VerticalScroll():
                yield Static(pages.text(*parts))
            yield Static("Esc closes", classes="foot", markup=False)
