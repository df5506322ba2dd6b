"""The first screen: which log is it, or none at all."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen
from textual.suggester import Suggester
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from aifix.show.safe import one_line, sanitise
from aifix_tui import pages, recent

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from aifix.kb import Incident
    from aifix_tui.app import AifixApp
    from aifix_tui.hanging import Hanging
    from aifix_tui.tried import Tried

WELCOME = "What killed the run? Open its output, or let the wizard ask."
WIZARD = "wizard"
BROWSE = "browse"
PASTE = "paste"
RUN = "run"
FAILURE = "failure:"
TRIED = "tried:"


def _heading(words: str) -> Option:
    return Option(pages.text((words, "bold $primary")), disabled=True)


def _failure(one: Incident) -> Hanging:
    from aifix.kb.recall import day

    ended = ("  ✓ gone since", "$text-success") if one.ended_at else ""
    command = (f"\n      $ {pages.brief(one.command)}", pages.MUTED) if one.command else ""
    return pages.text("   ", (f"{day(one.at).removeprefix('on ')}  ", pages.MUTED), one_line(one.title), ended, command)


def _tried(one: Tried) -> Hanging:
    from aifix.kb.recall import day

    about = f"\n     against: {one_line(one.failure)}, taken {day(one.at)}"
    return pages.text("   ? ", (one_line(one.title), "bold"), (about, pages.MUTED))


class PathSuggester(Suggester):
    """Completes paths."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Complete the last part of a path, where only one name, or a first one, fits."""
        return await asyncio.to_thread(complete, value)


def complete(value: str) -> str | None:
    """Complete a path; None where nothing fits."""
    folder, _, begun = value.rpartition("/")
    root = Path(folder or ("/" if value.startswith("/") else ".")).expanduser()
    try:
        names = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in root.iterdir() if entry.name.startswith(begun))
    except OSError:
        return None
    shown = [name for name in names if name.isprintable() and (begun or not name.startswith("."))]
    return f"{value[: len(value) - len(begun)]}{shown[0]}" if shown and begun else None


class PathInput(Input):
    """A path, or a whole log when that is what is pasted."""

    class Pasted(Message):
        """A text of several lines was pasted."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        if "\n" in event.text.strip():
            self.post_message(self.Pasted(event.text))
            return
        super()._on_paste(events.Paste(sanitise(event.text)))


class OpenScreen(Screen[None]):
    """Asks for a log: by path, by pasting, from the recent ones; or leads to the wizard and the handbook."""

    app: AifixApp
    AUTO_FOCUS = "#places"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "path", "Path"),
        Binding("p", "paste", "Paste"),
        Binding("R", "app.switch_mode('run')", "Run"),
    ]
    DEFAULT_CSS = """
    OpenScreen #welcome { padding: 1 2 0 2; height: auto; }
    OpenScreen PathInput { margin: 1 1 0 1; }
    OpenScreen #places { margin: 0 1; height: 1fr; border: round $primary 50%; background: $background; }
    """

    def __init__(self) -> None:
        """Make the screen; what there is to start from is looked for when it comes to the front."""
        super().__init__()
        self._waiting: list[Tried] = []

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Static(pages.text(("aifix", "bold $primary"), f"  {WELCOME}"), id="welcome")
        with Vertical():
            yield PathInput(placeholder="Path of a log, or paste the output here", suggester=PathSuggester(), id="path")
            yield OptionList(id="places", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """List the places to start from."""
        self.query_one("#places").border_title = "or start from"
        self._list([], [], [], [])

    def on_screen_resume(self) -> None:
        """Look again for logs whenever the screen comes to the front."""
        self._look()

    @work(thread=True, exclusive=True)
    def _look(self) -> None:
        from aifix_tui import past, tried

        self.app.call_from_thread(self._list, recent.recent(), recent.nearby(), past.recent(), tried.waiting())

    def _list(self, lately: list[Path], here: list[Path], failures: list[Incident], waiting: list[Tried]) -> None:
        places = self.query_one("#places", OptionList)
        chosen = places.highlighted
        places.clear_options()
        options = [
            Option(pages.text(("w  ", "bold"), "no log: let the wizard ask"), id=WIZARD),
            Option(pages.text(("R  ", "bold"), "run a command, watch it, read its diagnosis"), id=RUN),
            Option(pages.text(("p  ", "bold"), "paste the output of a run"), id=PASTE),
            Option(pages.text(("b  ", "bold"), "browse the handbook: diagnoses and articles"), id=BROWSE),
        ]
        usual = len(options)
        if waiting:
            options.append(_heading("did it help?"))
            options += [Option(_tried(one), id=f"{TRIED}{number}") for number, one in enumerate(waiting)]
        logs = [(path, "opened lately") for path in lately]
        known = {path.absolute() for path in lately}
        logs += [(path, "in this folder") for path in here if path.absolute() not in known]
        if logs:
            options.append(_heading("logs"))
            options += [Option(pages.text("   ", one_line(str(path)), (f"  {where}", pages.MUTED)), id=str(path)) for path, where in logs]
        if failures:
            options.append(_heading("failures of the history"))
            options += [Option(_failure(one), id=f"{FAILURE}{one.number}") for one in failures]
        places.add_options(options)
        self._waiting = waiting
        places.highlighted = chosen if chosen is not None and chosen < len(options) else usual + 1 if len(options) > usual else 0

    @on(OptionList.OptionSelected)
    async def _chosen(self, event: OptionList.OptionSelected) -> None:
        chosen = event.option_id or ""
        if chosen in {WIZARD, BROWSE, RUN}:
            await self.app.switch_mode(chosen)
        elif chosen.startswith(FAILURE):
            self._recall(int(chosen.removeprefix(FAILURE)))
        elif chosen.startswith(TRIED):
            self._ask(self._waiting[int(chosen.removeprefix(TRIED))])
        elif chosen == PASTE:
            self.action_paste()
        else:
            self.app.open_log(Path(chosen))

    @work(thread=True, exclusive=True, group="recall")
    def _recall(self, number: int) -> None:
        """Read a failure of the history; in a thread."""
        from aifix import kb
        from aifix_tui import past

        try:
            incident = past.find(number)
        except kb.StoreError as error:
            self.app.call_from_thread(self.notify, one_line(str(error)), title="History", severity="error", markup=False)
            return
        if incident is None:
            self.app.call_from_thread(self.notify, f"Failure {number} is in the history no more", severity="warning")
        else:
            self.app.call_from_thread(self.app.open_incident, incident)

    def _ask(self, waiting: Tried) -> None:
        """Ask whether a fix helped that was taken in this session or an earlier one."""
        from aifix_tui.dialogs import HelpedDialog

        def said(answer: str | None) -> None:
            if answer:
                self._note(waiting, worked=answer == "yes")

        self.app.push_screen(HelpedDialog(waiting.title, waiting.failure), said)

    @work(thread=True, group="answer")
    def _note(self, waiting: Tried, *, worked: bool) -> None:
        """Write the answer; in a thread."""
        from aifix import kb
        from aifix_tui import past, tried

        try:
            incident = past.find(waiting.incident)
            if incident is not None and incident.uid == waiting.uid:
                with kb.open_store() as store:
                    kb.record_outcome(store, incident, waiting.fix, worked=worked)
        except kb.StoreError as error:
            self.app.call_from_thread(self.notify, one_line(str(error)), title="History", severity="error", markup=False)
            return
        tried.forget(waiting.uid, waiting.fix)
        self.app.call_from_thread(self._noted, waiting)

    def _noted(self, waiting: Tried) -> None:
        self.notify(f"“{one_line(waiting.title)}”, failure {waiting.incident} of the history", title="Noted", markup=False)
        self._look()

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        typed = event.value.strip()
        if typed:
            self.app.open_log(Path(typed).expanduser())

    @on(PathInput.Pasted)
    def _pasted(self, event: PathInput.Pasted) -> None:
        self.app.open_text(event.text)

    def on_paste(self, event: events.Paste) -> None:
        """Take a text that is pasted anywhere on this screen."""
        if event.text.strip():
            self.app.open_text(event.text)

    def action_path(self) -> None:
        """Go to the path."""
        self.set_focus(self.query_one(PathInput))

    def action_paste(self) -> None:
        """Ask for a text."""
        from aifix_tui.dialogs import PasteDialog

        self.app.push_screen(PasteDialog(), self._given)

    def _given(self, text: str | None) -> None:
        if text:
            self.app.open_text(text)
