"""A command, run under `aifix run` and watched as it prints; its diagnosis opens at its end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.suggester import SuggestFromList
from textual.widgets import Footer, Input, Static
from textual.worker import get_current_worker

from aifix.show.layout import counted
from aifix.show.safe import one_line, sanitise
from aifix_tui import pages, past
from aifix_tui.logfile import LogFile
from aifix_tui.logview import LogView

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from aifix.kb import Incident
    from aifix.model import Report
    from aifix_tui.app import AifixApp
    from aifix_tui.live import Live

EVERY = 0.2
"""Seconds between two looks at what was printed."""
STEPS = 8
"""Steps of the index that are made at one look, so that a command that prints very much blocks nothing."""
RUN = "Type a command as in a terminal, and press Enter. It runs in {folder}.\nWhen it fails, its diagnosis opens."


class RunScreen(Screen[None]):
    """Starts a command and follows its output."""

    app: AifixApp
    AUTO_FOCUS = "#command"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "command", "Command", key_display="/"),
        Binding("s", "stop", "Stop"),
        Binding("end,G", "follow", "Follow", key_display="End"),
        Binding("c", "copy", "Copy line", show=False),
    ]
    DEFAULT_CSS = """
    RunScreen #command { margin: 0; }
    RunScreen #hint { padding: 1 2; color: $text-muted; height: auto; }
    RunScreen #output { height: 1fr; display: none; }
    RunScreen #doing { height: 1; padding: 0 1; background: $panel; }
    """

    def __init__(self) -> None:
        """Make the screen; nothing runs yet."""
        super().__init__()
        self.live: Live | None = None
        self._log: LogFile | None = None
        self._following = True

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Input(placeholder="Command, e.g. python train.py", id="command")
        yield Static(pages.text(RUN.format(folder=one_line(str(Path.cwd())))), id="hint", markup=False)
        yield LogView(id="output")
        yield Static("nothing runs", id="doing", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Offer the commands of the history."""
        self._offer()

    def on_unmount(self) -> None:
        """End what still runs."""
        if self.live is not None:
            self.live.close()
        if self._log is not None:
            self._log.close()

    @work(thread=True)
    def _offer(self) -> None:
        commands = list(dict.fromkeys(one.command for one in past.recent(50) if one.command and one.origin == "here"))
        if commands:
            self.app.call_from_thread(self._offered, commands)

    def _offered(self, commands: list[str]) -> None:
        command = self.query_one("#command", Input)
        command.suggester = SuggestFromList(commands)
        hint = self.query_one("#hint", Static)
        hint.update(
            pages.text(
                RUN.format(folder=one_line(str(Path.cwd()))),
                ("\n\nFailed lately; typing completes them (→ takes the rest):\n", pages.MUTED),
                *[f"  $ {pages.brief(one)}\n" for one in commands[:6]],
            )
        )

    # ------------------------------------------------------------ running

    @property
    def running(self) -> bool:
        """Whether a command runs."""
        return self.live is not None and self.live.wait(0) is None

    @on(Input.Submitted, "#command")
    def _submitted(self, event: Input.Submitted) -> None:
        if self.running:
            self.notify("A command runs already; s stops it", severity="warning")
            return
        self.start(event.value)

    def start(self, command: str) -> None:
        """Start a command; what is wrong with it is said."""
        from aifix_tui.live import Live

        view = self.query_one("#output", LogView)
        log, report = self.app.private(".log"), self.app.private(".json")
        try:
            live = Live(command, log, report, columns=max(40, self.size.width - 8), rows=max(10, self.size.height - 6))
        except (ValueError, OSError) as error:
            self.notify(one_line(str(error)), title="Cannot be started", severity="error", markup=False)
            return
        if self._log is not None:
            self._log.close()
        self.live, self._log, self._following = live, LogFile(log), True
        view.open(self._log)
        view.display = True
        self.query_one("#hint").display = False
        self.set_focus(view)
        self._say("")
        self._watch(live)

    @work(thread=True, exclusive=True, group="watch")
    def _watch(self, live: Live) -> None:
        """Look again and again, until it has ended; in a thread."""
        worker = get_current_worker()
        status: int | None = None
        while status is None and not worker.is_cancelled:
            status = live.wait(EVERY)
            if not worker.is_cancelled:
                self.app.call_from_thread(self._looked, live)
        if status is None or worker.is_cancelled:
            return
        incident = None
        if status:
            from aifix.kb.keys import command_key

            incident = past.latest(command_key(tuple(live.words), str(Path.cwd())), live.since)
        report = live.report()
        self.app.call_from_thread(self._ended, live, status, report, incident)

    def _looked(self, live: Live) -> None:
        """Show what was printed since."""
        log = self._log
        if live is not self.live or log is None:
            return
        if log.grow() or not log.complete:
            for _ in zip(range(STEPS), log.index(), strict=False):
                pass
            view = self.query_one("#output", LogView)
            view.grew()
            if self._following:
                view.action_ends(1)
        self._say("")

    def _say(self, ended: str) -> None:
        live, log = self.live, self._log
        if live is None or log is None:
            return
        lines = counted(log.lines, "line")
        if ended:
            parts = [ended, _lasted(live.seconds), lines]
        else:
            doing = "… stopping" if live.stopping else "▶ running"
            how = "s again: harder" if live.stopping else "s stops it" if self._following else "End follows · s stops it"
            parts = [doing, _lasted(live.seconds), lines, how]
        self.query_one("#doing", Static).update(" · ".join(parts) + f"   $ {sanitise(' '.join(live.command.split()))}")

    def _ended(self, live: Live, status: int, report: Report | None, incident: Incident | None) -> None:
        """Open the diagnosis of a failure; say of a good end that it was one."""
        if live is not self.live or self._log is None:
            return
        while self._log.grow() or not self._log.complete:
            for _ in self._log.index():
                pass
        self.query_one("#output", LogView).grew()
        if not status:
            self._say("✓ ended well")
            return
        told = live.said()
        if report is None or not live.log.stat().st_size:
            self._say(f"✗ ended with {status}")
            if told:
                self.notify(one_line(told[-1]), title="Cannot be run", severity="error", markup=False)
            if report is None or not report.diagnoses:
                return
        self._say(f"✗ ended with {status}")
        if self.app.screen is not self:  # somebody went on meanwhile
            self.notify(f"It ended with {status}: R, then d for its diagnosis", title=pages.brief(live.command), severity="warning", markup=False)
        from aifix.kb import record

        run = record.Run(how="run", arguments=tuple(live.words), folder=str(Path.cwd()), status=status, seconds=live.seconds)
        self.app.open_log(
            live.log, f"$ {' '.join(live.command.split())}", past=past.Past(run, folder=str(Path.cwd()), incident=incident), judged=report
        )

    # ------------------------------------------------------------ keys

    @on(LogView.Moved)
    def _moved(self) -> None:
        """Follow the output only while one looks at its end."""
        view = self.query_one("#output", LogView)
        self._following = view.cursor >= view.rows - 1

    def action_stop(self) -> None:
        """Stop the command, more firmly each time."""
        if self.live is not None and self.running:
            self.notify(self.live.stop(), title="Stopping", markup=False)
            self._say("")

    def action_follow(self) -> None:
        """Go to the end of the output and stay there."""
        self._following = True
        self.query_one("#output", LogView).action_ends(1)

    def action_command(self) -> None:
        """Go to the command."""
        self.set_focus(self.query_one("#command"))

    def action_copy(self) -> None:
        """Copy the line under the cursor."""
        view = self.query_one("#output", LogView)
        self.app.copy(view.log_file.text(view.number) if view.log_file and view.rows else "")

    @on(LogView.Whole)
    def _whole(self, event: LogView.Whole) -> None:
        from aifix_tui.dialogs import LineDialog

        self.app.push_screen(LineDialog(event.number, event.text))

    def on_key(self, event: events.Key) -> None:
        """Leave the command by Escape or Down."""
        if self.query_one("#command").has_focus and event.key in {"escape", "down"}:
            event.stop()
            event.prevent_default()
            view = self.query_one("#output", LogView)
            self.set_focus(view if view.display else None)


def _lasted(seconds: float) -> str:
    from aifix.supervise.words import duration

    return duration(seconds)
