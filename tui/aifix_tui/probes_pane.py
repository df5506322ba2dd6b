"""The probes of a diagnosis: what each asks, run one or all, and the answers. Where aifix has no probes it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from aifix.show.safe import one_line, sanitise
from aifix_tui import pages
from aifix_tui.probing import Going

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from aifix.model import Diagnosis, ProbeResult, Report, Rule
    from aifix.probes.finding import Finding
    from aifix.probes.registry import Probe
    from aifix_tui.case import Case

WORDS = {
    "confirmed": "✗ speaks for it",
    "refuted": "✓ speaks against it",
    "inconclusive": "? unclear",
    "not-available": "– not here",
    "not-run": "– not run",
}
ELSEWHERE = "– tells nothing: it has no answer here, and the log seems to come from another machine"
TICK = 0.25
"""Seconds between two looks at the clock while probes run."""
ABSENT = "This build of aifix has no probes."


class ProbesPane(Vertical):
    """Lists the probes that bear on the chosen diagnosis."""

    DEFAULT_CSS = """
    ProbesPane #probe-note { height: auto; padding: 0 1; color: $text-muted; }
    ProbesPane #probe-list { height: 1fr; border: none; background: $background; }
    """

    class Examined(Message):
        """All probes have run, and a new report weighs their answers."""

        def __init__(self, case: Case, report: Report) -> None:
            self.case = case
            self.report = report
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._case: Case | None = None
        self._diagnosis: Diagnosis | None = None
        self._results: dict[str, ProbeResult] = {}
        self._busy: set[str] = set()
        self._off: set[str] = set()
        self._ids: list[str] = []
        self._asked = ""
        self._total = 0
        self._going = Going()

    def on_mount(self) -> None:
        """Let the seconds be seen to pass."""
        self.set_interval(TICK, self._tick)

    def compose(self) -> ComposeResult:
        """Lay out the pane."""
        yield Static("", id="probe-note", markup=False)
        yield OptionList(id="probe-list", markup=False)

    @property
    def list(self) -> OptionList:
        """The list of probes."""
        return self.query_one("#probe-list", OptionList)

    def show(self, case: Case | None, diagnosis: Diagnosis | None) -> None:
        """Show the probes of a diagnosis, with the answers that its report holds."""
        if case is not self._case:
            self._going.call_off()
            self._busy = set()
        self._case, self._diagnosis = case, diagnosis
        self._results = {result.id: result for result in diagnosis.probes} if diagnosis else {}
        self._off, self._asked = set(), ""
        rule = _rule(diagnosis)
        self._ids = [use.id for use in rule.probes] if rule else []
        self._fill()

    def _fill(self) -> None:
        registry = _registry()
        self._say()
        chosen = self.list.highlighted
        self.list.clear_options()
        rule = _rule(self._diagnosis)
        ratios = {use.id: use for use in rule.probes} if rule else {}
        for probe_id in self._ids:
            probe = registry.get(probe_id) if registry else None
            parts: list[pages.Part] = [(sanitise(probe_id), "bold")]
            if probe is None:
                parts.append(("  not in this build", pages.MUTED))
            else:
                parts += [("  active" if probe.active else "  passive", pages.MUTED), f"\n   {probe.question}"]
                use = ratios[probe_id]
                parts.append((f"\n   if it speaks for it: odds × {use.confirmed:g}; against it: odds × {use.refuted:g}", pages.MUTED))
                if probe.active and probe.needs:
                    parts.append(f"\n   It needs to know which; Enter copies the command:\n   $ aifix probe {probe_id} {probe.needs} …")
                elif probe.active and probe_id == self._asked:
                    parts.append(("\n   It runs something on this machine. Enter again runs it.", "bold $text-warning"))
                elif probe.active:
                    parts.append("\n   It runs something on this machine, for some seconds; Enter asks once more.")
            result = self._results.get(probe_id)
            if probe_id in self._busy:
                parts.append(("\n   … running", "bold"))
            elif probe_id in self._off:
                parts.append(("\n   – called off", pages.MUTED))
            elif result is not None and not (probe is not None and probe.active and result.status == "not-run"):
                style = {"confirmed": "$text-error", "refuted": "$text-success"}.get(result.status, pages.MUTED)
                parts += ["\n   ", (WORDS[result.status], style + " bold"), ": " + one_line(result.summary)]
                for line in result.data.get("evidence", ())[:6]:
                    parts.append((f"\n     {one_line(str(line))}", pages.MUTED))
            elif probe is not None and not probe.active and self._case is not None and self._case.examined:
                parts.append((f"\n   {ELSEWHERE}", pages.MUTED))
            self.list.add_option(Option(pages.text(*parts)))
        if self._ids:
            self.list.highlighted = min(chosen or 0, len(self._ids) - 1)

    # ------------------------------------------------------------ running

    @on(OptionList.OptionSelected, "#probe-list")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        probe_id = self._ids[event.option_index]
        probe = (_registry() or {}).get(probe_id)
        if probe is None or self._diagnosis is None or probe_id in self._busy:
            return
        if probe.needs and probe.active:
            command = f"aifix probe {probe_id} {probe.needs} "
            self.app.copy_to_clipboard(command)
            self.notify(f"{command}…", title=f"It needs {probe.needs}: the command is copied", markup=False)
            return
        if probe.active and self._asked != probe_id:
            self._asked = probe_id
            self._fill()
            return
        self._asked = ""
        self._start([probe_id])
        self._run_one(self._diagnosis, probe, self._going)

    @work(thread=True, group="probe")
    def _run_one(self, diagnosis: Diagnosis, probe: Probe, going: Going) -> None:
        """Run one probe; in a thread."""
        from aifix.model import ProbeResult
        from aifix_tui import probing

        finding = probing.active(probe.id, going) if probe.active else probing.passive(probe, diagnosis, going)
        if finding is not None:
            result = ProbeResult(probe.id, finding.status, finding.summary, {**finding.data, "evidence": list(finding.evidence)})
            self.app.call_from_thread(self._answered, diagnosis, result, going)

    def _answered(self, diagnosis: Diagnosis, result: ProbeResult, going: Going) -> None:
        if going is self._going:
            self._busy.discard(result.id)
        if diagnosis is self._diagnosis:
            self._results[result.id] = result
        self._fill()

    def run_all(self) -> None:
        """Run the passive probes of all diagnoses, and let their verdicts move the report."""
        registry = _registry()
        if registry is None or self._case is None:
            self.notify(ABSENT, severity="warning")
            return
        if self._busy:
            return
        self._start([one for one in self._ids if one in registry and not registry[one].active])
        self._run_all(self._case, self._going)

    @work(thread=True, group="probe")
    def _run_all(self, case: Case, going: Going) -> None:
        """Examine the machine; in a thread."""
        from aifix_tui import probing

        report = case.examine(probing.followed(case.probing, _Progress(self, going)))
        if not going.over:
            self.app.call_from_thread(self._all_answered, case, report, going)

    def _all_answered(self, case: Case, report: Report, going: Going) -> None:
        if going is self._going:
            self._busy = set()
            self.post_message(self.Examined(case, report))

    def began(self, going: Going, probes: Sequence[str]) -> None:
        """Show that probes run."""
        if going is self._going:
            self._busy = set(probes)
            self._total = len(self._busy)
            self._fill()

    def answer(self, going: Going, probe: str, finding: Finding) -> None:
        """Show one answer while the others still run; its weight comes with the report."""
        from aifix.model import ProbeResult

        if going is self._going:
            self._busy.discard(probe)
            if probe in self._ids:
                self._results[probe] = ProbeResult(probe, finding.status, finding.summary, {**finding.data, "evidence": list(finding.evidence)})
            self._fill()

    def _start(self, probes: Sequence[str]) -> None:
        if not self._busy:
            self._going = Going()
            self._total = 0
        self._busy |= set(probes)
        self._off -= set(probes)
        self._total += len(probes)
        self._fill()

    def cancel(self) -> bool:
        """Call off what runs; what has answered stays. False where nothing runs."""
        if not self._busy:
            return False
        self._going.call_off()
        self._off |= self._busy
        self._busy = set()
        self._fill()
        return True

    def _tick(self) -> None:
        if self._busy:
            self._say()

    def _say(self) -> None:
        note = "Enter runs the probe, a runs all. They read, and change nothing; an active one runs something, and asks first."
        if _registry() is None:
            note = ABSENT
        elif not self._ids:
            note = "No probe bears on this diagnosis."
        if self._busy:
            done = self._total - len(self._busy)
            note = f"… running: {done} of {self._total} answered, {self._going.seconds:.1f} s · x calls it off"
        self.query_one("#probe-note", Static).update(note)


class _Progress:
    """Hands the probes' progress to the pane; implements `aifix.probes.run.Follower`."""

    def __init__(self, pane: ProbesPane, going: Going) -> None:
        self._pane = pane
        self._going = going

    def began(self, probes: Sequence[str]) -> None:
        self._pane.app.call_from_thread(self._pane.began, self._going, probes)

    def answered(self, probe: str, finding: Finding) -> None:
        self._pane.app.call_from_thread(self._pane.answer, self._going, probe, finding)

    def cancelled(self) -> bool:
        return self._going.over


def _registry() -> dict[str, Probe] | None:
    """Give the probes by id; None in a build that has none."""
    try:
        from aifix.probes.registry import BY_ID
    except ImportError:
        return None
    return dict(BY_ID)


def _rule(diagnosis: Diagnosis | None) -> Rule | None:
    if diagnosis is None:
        return None
    from aifix import api

    return api.rule_base().get(diagnosis.id)
