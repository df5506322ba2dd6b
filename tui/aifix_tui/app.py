"""The application: its screens, what they share, and the commands of every screen."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType

from aifix.show.safe import sanitise
from aifix_tui import recent
from aifix_tui.case import Case
from aifix_tui.logfile import LogFile
from aifix_tui.open_screen import OpenScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.screen import Screen

    from aifix.kb import Incident
    from aifix.model import Report
    from aifix.probes.probing import Probing
    from aifix_tui.browse_screen import BrowseScreen
    from aifix_tui.case_screen import CaseScreen
    from aifix_tui.handbook import Handbook
    from aifix_tui.past import Past
    from aifix_tui.run_screen import RunScreen
    from aifix_tui.wizard_screen import WizardScreen


def _case_screen() -> CaseScreen:
    from aifix_tui.case_screen import CaseScreen

    return CaseScreen()


def _browse_screen() -> BrowseScreen:
    from aifix_tui.browse_screen import BrowseScreen

    return BrowseScreen()


def _wizard_screen() -> WizardScreen:
    from aifix_tui.wizard_screen import WizardScreen

    return WizardScreen()


def _run_screen() -> RunScreen:
    from aifix_tui.run_screen import RunScreen

    return RunScreen()


class AifixApp(App[None]):
    """The terminal interface of aifix."""

    TITLE = "aifix"
    CSS = """
    Screen { background: $background; }
    Footer { height: 1; }
    OptionList { scrollbar-size-vertical: 1; padding: 0; }
    OptionList > .option-list--option-highlighted { background: $primary 20%; color: $foreground; text-style: none; }
    OptionList:focus { background-tint: $background 0%; }
    OptionList:focus > .option-list--option-highlighted { background: $primary 45%; color: $foreground; text-style: bold; }
    VerticalScroll { scrollbar-size-vertical: 1; }
    LogView { scrollbar-size: 1 1; }
    """
    # Screens are imported when they are first shown: the first paint does not wait for them.
    SCREENS: ClassVar[dict[str, Callable[[], Screen[Any]]]] = {
        "open": OpenScreen,
        "case": _case_screen,
        "browse": _browse_screen,
        "wizard": _wizard_screen,
        "run": _run_screen,
    }
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {name: name for name in SCREENS}
    DEFAULT_MODE = "open"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "switch_mode('case')", "Diagnosis"),
        Binding("w", "switch_mode('wizard')", "Wizard"),
        Binding("b", "switch_mode('browse')", "Browse"),
        Binding("o", "switch_mode('open')", "Open"),
        Binding("R", "switch_mode('run')", "Run", show=False),
        Binding("question_mark", "keys", "Help", key_display="?"),
        Binding("f2", "theme", "Light/dark", show=False),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(
        self, log: Path | None = None, *, name: str = "", probing: Probing | None = None, past: Past | None = None, dark: bool = True
    ) -> None:
        """Make the application.

        Args:
            log: the log to open at once.
            name: what to call it.
            probing: how this machine is to be looked at, where it is known who wrote the log.
            past: what the log's run has to do with the history, where that is known.
            dark: start with the dark theme.

        """
        if log is not None:  # the first paint is the case's, and the first screen is never made
            self.DEFAULT_MODE = "case"  # type: ignore[misc]
        super().__init__()
        self.case: Case | None = None
        self._first = (log, name, probing, past)
        self._dark = dark
        self._leaving = False
        self._handbook: Handbook | None = None
        self._pasted: tempfile.TemporaryDirectory[str] | None = None

    def on_mount(self) -> None:
        """Open the log that was named."""
        self.theme = "textual-dark" if self._dark else "textual-light"
        log, name, probing, past = self._first
        if log is not None:
            self.open_log(log, name, probing, past)

    def on_unmount(self) -> None:
        """Remove what was pasted."""
        if self.case is not None:
            self.case.log.close()
        if self._pasted is not None:
            self._pasted.cleanup()

    # ------------------------------------------------------------ what the screens share

    def handbook(self) -> Handbook:
        """Give the handbook, made once; call it from a thread the first time."""
        if self._handbook is None:
            from aifix import api
            from aifix.kb import articles
            from aifix_tui.handbook import Handbook

            self._handbook = Handbook(api.rule_base(), articles.load())
        return self._handbook

    def open_log(self, path: Path, name: str = "", probing: Probing | None = None, past: Past | None = None, judged: Report | None = None) -> None:
        """Open a log and go to its diagnosis; what cannot be read is said. See `Case` for what may be known of it."""
        try:
            if path.is_dir():
                raise IsADirectoryError(21, "it is a folder; name a log in it")
            log = LogFile(path)
        except (OSError, ValueError) as error:  # ValueError: a path with a null character in it
            why = getattr(error, "strerror", None) or error
            self.notify(sanitise(f"{path}: {why}"), title="Cannot be opened", severity="error", markup=False)
            return
        self.case = Case(log, name or str(path), probing, past, judged)
        if not name:
            recent.remember(path)
        self.run_worker(self._show_case(), exclusive=True, group="show")

    def open_text(self, text: str) -> None:
        """Open a text as a log; it lies in a private folder until the application ends."""
        path = self.private(".log")
        path.write_bytes(text.replace("\r\n", "\n").encode("utf-8", "replace"))
        self.open_log(path, "pasted text")

    def open_incident(self, incident: Incident) -> None:
        """Open a failure of the history: its lines of proof, what was said of it, and its fixes."""
        from aifix_tui.past import Past, written

        path = self.private(".log")
        written(incident, path)
        self.open_log(path, f"failure {incident.number} (the history keeps the lines of proof)", past=Past(folder=incident.folder, incident=incident))

    def private(self, suffix: str) -> Path:
        """Give a fresh file of nobody else's, which goes with the application."""
        if self._pasted is None:
            self._pasted = tempfile.TemporaryDirectory(prefix="aifix-", ignore_cleanup_errors=True)
        handle, name = tempfile.mkstemp(suffix=suffix, dir=self._pasted.name)
        os.close(handle)
        return Path(name)

    async def _show_case(self) -> None:
        from aifix_tui.case_screen import CaseScreen

        await self.switch_mode("case")
        screen = self.screen
        if isinstance(screen, CaseScreen) and self.case is not None:
            screen.show(self.case)

    async def show_rule(self, rule_id: str) -> None:
        """Open a rule's page in the handbook."""
        from aifix_tui.browse_screen import BrowseScreen

        await self.switch_mode("browse")
        screen = self.screen
        if isinstance(screen, BrowseScreen):
            screen.show(rule_id)

    def copy(self, text: str) -> bool:
        """Copy a text, and say which; false where there is none."""
        if not text:
            self.notify("There is nothing to copy here", severity="warning")
            return False
        self.copy_to_clipboard(text)
        first = text.split("\n", 1)[0]
        self.notify(first[:200] + (" …" if "\n" in text else ""), title="Copied", markup=False)
        return True

    def chosen(self, text: str | None) -> None:
        """Copy what a dialog gave, if anything."""
        if text:
            self.copy(text)

    # ------------------------------------------------------------ commands

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave out of the footer what leads to where one is."""
        if action == "switch_mode":
            return parameters != (self.current_mode,) and not (parameters == ("case",) and self.case is None)
        return True

    def action_keys(self) -> None:
        """Show all keys."""
        from aifix_tui.dialogs import HelpDialog

        if not isinstance(self.screen, HelpDialog):
            self.push_screen(HelpDialog())

    async def action_quit(self) -> None:
        """Quit; while a command runs only after a second q."""
        from aifix_tui.run_screen import RunScreen

        running = any(isinstance(screen, RunScreen) and screen.running for stack in self._screen_stacks.values() for screen in stack)
        if running and not self._leaving:
            self._leaving = True
            self.notify("A command still runs; q again ends it, too", severity="warning")
            return
        self.exit()

    def action_theme(self) -> None:
        """Change between light and dark."""
        self.theme = "textual-light" if self.current_theme.dark else "textual-dark"

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Give the commands of the palette."""
        yield SystemCommand("Open a log", "By path, pasted, or a failure of the history", lambda: self._go("open"))
        yield SystemCommand("Diagnosis", "The log that is open, what it proves, and the fixes", lambda: self._go("case"))
        yield SystemCommand("Run a command", "Watch it, and read its diagnosis at its end", lambda: self._go("run"))
        yield SystemCommand("Wizard", "Questions that lead to a diagnosis without a log", lambda: self._go("wizard"))
        yield SystemCommand("Handbook", "All diagnoses and articles, searchable", lambda: self._go("browse"))
        yield SystemCommand("Light or dark", "Change the theme", self.action_theme)
        yield SystemCommand("Help", "All keys of all screens", self.action_keys)
        yield from super().get_system_commands(screen)

    def _go(self, mode: str) -> None:
        self.run_worker(self._switch(mode), exclusive=True, group="show")

    async def _switch(self, mode: str) -> None:
        if self.is_running:  # it may have been left while the list of commands was open
            await self.switch_mode(mode)
