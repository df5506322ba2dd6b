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

from aifix.show.safe import sanitise
from aifix_tui import pages, recent

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from aifix_tui.app import AifixApp

WELCOME = "What killed the run? Open its output, or let the wizard ask."
WIZARD = "wizard"
BROWSE = "browse"
PASTE = "paste"


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
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "path", "Path"),
        Binding("p", "paste", "Paste"),
    ]
    DEFAULT_CSS = """
    OpenScreen #welcome { padding: 1 2 0 2; height: auto; }
    OpenScreen PathInput { margin: 1 1 0 1; }
    OpenScreen #places { margin: 0 1; height: 1fr; border: round $primary 50%; background: $background; }
    """

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
        self._list([], [])
        self.query_one("#places").focus()

    def on_screen_resume(self) -> None:
        """Look again for logs whenever the screen comes to the front."""
        self._look()

    @work(thread=True, exclusive=True)
    def _look(self) -> None:
        lately, here = recent.recent(), recent.nearby()
        self.app.call_from_thread(self._list, lately, here)

    def _list(self, lately: list[Path], here: list[Path]) -> None:
        places = self.query_one("#places", OptionList)
        chosen = places.highlighted
        places.clear_options()
        options = [
            Option(pages.text(("w  ", "bold"), "no log: let the wizard ask"), id=WIZARD),
            Option(pages.text(("b  ", "bold"), "browse the handbook of all diagnoses"), id=BROWSE),
            Option(pages.text(("p  ", "bold"), "paste the output"), id=PASTE),
        ]
        options += [Option(pages.text("   ", pages.one_line(str(path)), ("  opened lately", pages.MUTED)), id=str(path)) for path in lately]
        known = {path.absolute() for path in lately}
        options += [
            Option(pages.text("   ", pages.one_line(str(path)), ("  in this folder", pages.MUTED)), id=str(path))
            for path in here
            if path.absolute() not in known
        ]
        places.add_options(options)
        places.highlighted = chosen if chosen is not None and chosen < len(options) else 3 if len(options) > 3 else 0

    @on(OptionList.OptionSelected)
    async def _chosen(self, event: OptionList.OptionSelected) -> None:
        chosen = event.option_id or ""
        if chosen in {WIZARD, BROWSE}:
            await self.app.switch_mode(chosen)
        elif chosen == PASTE:
            self.action_paste()
        else:
            self.app.open_log(Path(chosen))

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
        self.query_one(PathInput).focus()

    def action_paste(self) -> None:
        """Ask for a text."""
        from aifix_tui.dialogs import PasteDialog

        self.app.push_screen(PasteDialog(), self._given)

    def _given(self, text: str | None) -> None:
        if text:
            self.app.open_text(text)
